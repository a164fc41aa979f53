import { Counter, Gauge, type Registry } from 'prom-client'

/** Counted per chunk and response, so plain numbers; the registry asks for them when it is read. */
export interface ServerCounters {
  receivedBytes: number
  sentBytes: number
  accepted: number
  refused: number
  /** Response bytes that wait for their clients to read, now. */
  queuedBytes: number
}

/** State of the server as gauges want it. */
export interface ServerGauges {
  connections(): number
  pausedConnections(): number
  requestsInFlight(): number
  inFlightBytes(): number
}

export function registerServerMetrics(registry: Registry, counters: ServerCounters, gauges: ServerGauges): void {
  const gauge = (name: string, help: string, value: () => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(value())
        },
      }),
    )
  }
  const counter = (name: string, help: string, value: () => number): void => {
    registry.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        collect() {
          this.reset()
          this.inc(value())
        },
      }),
    )
  }
  gauge('frazil_connections', 'Open client connections', gauges.connections)
  gauge('frazil_connections_paused', 'Connections that are not read: memory bound, slow reader or throttle', gauges.pausedConnections)
  gauge('frazil_requests_in_flight', 'Requests that are read and not answered', gauges.requestsInFlight)
  gauge(
    'frazil_requests_in_flight_bytes',
    'Memory that requests hold until they are answered, half-read ones included',
    gauges.inFlightBytes,
  )
  gauge('frazil_responses_queued_bytes', 'Response bytes that wait for their clients to read', () => counters.queuedBytes)
  counter('frazil_connections_accepted_total', 'Connections accepted', () => counters.accepted)
  counter('frazil_connections_refused_total', 'Connections refused at a connection limit', () => counters.refused)
  counter('frazil_received_bytes_total', 'Bytes received from clients', () => counters.receivedBytes)
  counter('frazil_sent_bytes_total', 'Response bytes handed to sockets', () => counters.sentBytes)
}
