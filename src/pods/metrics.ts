import { Gauge, type Registry } from 'prom-client'

/** What `/metrics` shows of a pod among others. */
export function podMetrics(
  registry: Registry,
  values: { readonly pods: () => number; readonly writesLog: () => boolean; readonly links: () => number },
): void {
  const gauge = (name: string, help: string, value: () => number): void =>
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
  gauge('frazil_pods', 'Pods that clients are sent to, as this pod sees it; only with a log that pods share', values.pods)
  gauge('frazil_pod_writes_log', '1 while this pod holds the log lease', () => Number(values.writesLog()))
  gauge('frazil_pod_links', 'Links to other pods that work', values.links)
}
