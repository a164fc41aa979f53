import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'

/** Memory, CPU and event-loop delay of this process. */
export function registerProcessMetrics(registry: Registry): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  registry.registerMetric(
    new Gauge({
      name: 'frazil_event_loop_delay_seconds',
      help: 'Delay of the event loop since the last scrape, by quantile.',
      labelNames: ['quantile'],
      registers: [],
      collect() {
        for (const percentile of [50, 99, 100]) {
          const nanoseconds = percentile === 100 ? delay.max : delay.percentile(percentile)
          this.set({ quantile: String(percentile / 100) }, Math.max(0, nanoseconds / 1e9 - 0.02))
        }
        delay.reset()
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'frazil_process_memory_bytes',
      help: 'Memory of this process by kind.',
      labelNames: ['kind'],
      registers: [],
      collect() {
        const memory = process.memoryUsage()
        this.set({ kind: 'resident' }, memory.rss)
        this.set({ kind: 'heap' }, memory.heapUsed)
        this.set({ kind: 'external' }, memory.external)
        this.set({ kind: 'array_buffers' }, memory.arrayBuffers)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'frazil_process_cpu_seconds_total',
      help: 'CPU time of this process with all its threads.',
      registers: [],
      collect() {
        const usage = process.cpuUsage()
        this.set((usage.user + usage.system) / 1e6)
      },
    }),
  )
  return () => delay.disable()
}
