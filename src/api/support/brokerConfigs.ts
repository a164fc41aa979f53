import { BROKER_CONFIGS } from '../../base/config/brokerConfigs.ts'
import { brokerConfigValue, type BrokerValues } from '../../base/config/topicSettings.ts'
import type { Metadata } from '../../metadata/port.ts'

/** Where a broker value comes from, nearest first. */
export type BrokerSource = 'dynamic-broker' | 'dynamic-default' | 'static' | 'default'

/**
 * Kafka's broker keys as they hold on this node: set for the node, set for the cluster, given at start, or the default.
 * Keys that a running broker cannot change never take a dynamic value.
 */
export class BrokerConfigs implements BrokerValues {
  readonly #metadata: Metadata
  readonly #static: ReadonlyMap<string, string>
  #version = 0
  #seen = ''

  /** `given`: keys that were set at start, and those that are facts of this node (node.id, listeners). */
  constructor(metadata: Metadata, given: ReadonlyMap<string, string>) {
    this.#metadata = metadata
    this.#static = given
    metadata.onApplied((change) => {
      if (change.other) this.#look()
    })
    this.#look()
  }

  /** Goes up when a dynamic value changes, so that what was derived can be cached. */
  get version(): number {
    return this.#version
  }

  #look(): void {
    const { state, nodeId } = this.#metadata
    const seen = JSON.stringify([[...state.brokerConfigs('')], [...state.brokerConfigs(String(nodeId))]])
    if (seen === this.#seen) return
    this.#seen = seen
    this.#version++
  }

  own(key: string): string | undefined {
    return this.sources(key).find((source) => source.source !== 'default')?.value ?? undefined
  }

  /** The effective value as text; null where there is none. */
  value(key: string): string | null {
    return brokerConfigValue(key, this)
  }

  number(key: string): number {
    return Number(this.value(key))
  }

  boolean(key: string): boolean {
    return this.value(key)?.toLowerCase() === 'true'
  }

  /** Every value the key has, the one that holds first. */
  sources(key: string): readonly { readonly source: BrokerSource; readonly value: string | null }[] {
    const { state, nodeId } = this.#metadata
    const definition = BROKER_CONFIGS.get(key)
    const found: { source: BrokerSource; value: string | null }[] = []
    const add = (source: BrokerSource, value: string | null | undefined): void => {
      if (value !== undefined) found.push({ source, value })
    }
    if (definition?.readOnly !== true) {
      add('dynamic-broker', state.brokerConfigs(String(nodeId)).get(key))
      add('dynamic-default', state.brokerConfigs('').get(key))
    }
    add('static', this.#static.get(key))
    if (definition !== undefined && definition.default !== null) add('default', definition.default)
    return found
  }
}
