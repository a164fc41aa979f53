import type { Side } from '../side.ts'

/** A course of requests that is run on both brokers; whatever it asks by `side.ask` is compared, in order. */
export interface Scenario {
  readonly name: string
  run(side: Side): Promise<void>
}
