import { Registry } from 'prom-client'
import { systemClock } from './base/clock.ts'
import { hostPort } from './base/config/load.ts'
import type { Settings } from './base/config/settings.ts'
import { GarbageBound } from './base/garbage.ts'
import { lowerHelpersPriority } from './base/priority.ts'
import { greet } from './cli/greeting.ts'
import { makeLogger } from './cli/logger.ts'
import type { HttpServer } from './http/server.ts'
import { parseAddress } from './schemas/remote/client.ts'
import { parseAdvertised, parseListeners, type Listener } from './server/listeners.ts'
import { KafkaServer } from './server/server.ts'
import { openBroker } from './wiring/broker.ts'

const SHUTDOWN_MS = 30_000
const SAME_SIGNAL_MS = 500
const GARBAGE_BYTES = 256 * 1024 * 1024

/** `frazil serve`: runs until a signal, or until the process cannot go on. */
export async function serve(settings: Settings): Promise<void> {
  lowerHelpersPriority()
  const logger = makeLogger(settings.logLevel)
  const clock = systemClock
  const registry = new Registry()
  let stop: (why: string, code: number) => void = () => {}
  let server: KafkaServer | null = null
  let bound: readonly Listener[] = []
  let advertised: readonly Listener[] = []
  // wrong addresses are told before anything is opened
  const listeners = parseListeners(settings.listeners)
  parseAdvertised(settings.advertisedListeners, listeners)
  hostPort('http', settings.http)
  if (settings.schemaRegistry !== '') parseAddress(settings.schemaRegistry, '', '')
  const broker = await openBroker({
    settings,
    clock,
    logger,
    registry,
    queuedBytes: () => server?.queuedBytes ?? 0,
    endpoint: (name) => advertised.find((listener) => listener.name === name) ?? advertised[0]!,
    onStop: (error) => {
      logger.error({ err: error }, 'this pod cannot go on')
      stop(error.message, 1)
    },
  })
  const { brokerConfigs } = broker.parts
  const garbage = new GarbageBound({
    limitBytes: GARBAGE_BYTES,
    used: () => process.memoryUsage().arrayBuffers,
    collect: globalThis.gc,
  })
  server = new KafkaServer({
    clock,
    logger,
    registry,
    listeners,
    moved: (sizeBytes) => garbage.moved(sizeBytes),
    dispatch: (connection, header, frame) => broker.dispatcher.dispatch(connection, header, frame),
    limits: {
      requestMaxBytes: brokerConfigs.number('socket.request.max.bytes'),
      connectionInFlightBytes: settings.connectionMemoryBytes,
      inFlightBytes: settings.requestMemoryBytes,
      queuedBytes: settings.responseMemoryBytes * 2,
      idleMs: brokerConfigs.number('connections.max.idle.ms'),
      connections: brokerConfigs.number('max.connections'),
      connectionsPerHost: brokerConfigs.number('max.connections.per.ip'),
    },
  })
  let http: HttpServer | null = null
  try {
    bound = await server.listen()
    advertised = parseAdvertised(settings.advertisedListeners, bound)
    http = await broker.startHttp()
    await broker.join(advertised)
  } catch (error) {
    await server.close(0)
    await broker.close()
    throw error
  }
  greet(settings, bound, http)
  const why = await new Promise<readonly [string, number]>((resolve) => {
    stop = (reason, code) => resolve([reason, code])
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve([signal, 0]))
  })
  logger.info({ reason: why[0] }, 'shutting down')
  // a second signal, or a part that hangs, must not keep the process: what was acknowledged is on disk already. One Ctrl-C
  // may arrive several times, from the terminal and from npm
  const stoppingMs = clock.monotonicMs()
  const again = (): void => void (clock.monotonicMs() - stoppingMs > SAME_SIGNAL_MS && process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, again)
  setTimeout(() => process.exit(1), SHUTDOWN_MS).unref()
  await broker.drain().catch((error: unknown) => logger.warn({ reason: String(error) }, 'clients could not be sent to other pods first'))
  await server.close(SHUTDOWN_MS / 3)
  await broker.close().catch((error: unknown) => logger.warn({ err: error }, 'the shutdown was not clean; nothing acknowledged is lost'))
  await http.close()
  process.exit(why[1])
}
