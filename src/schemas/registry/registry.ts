import type { Metadata } from '../../metadata/port.ts'
import { SchemaChecks } from './checks.ts'
import { LocalSchemaSource } from './localSource.ts'
import { SchemaStore } from './store.ts'
import { SchemaWrites } from './writes.ts'

/** The schema registry of this pod; its state is the metadata log's. */
export class SchemaRegistry {
  readonly store: SchemaStore
  readonly checks = new SchemaChecks()
  readonly writes: SchemaWrites
  readonly source: LocalSchemaSource

  constructor(metadata: Metadata) {
    this.store = new SchemaStore(metadata)
    this.writes = new SchemaWrites(this.store, this.checks)
    this.source = new LocalSchemaSource(this.store)
  }

  close(): Promise<void> {
    return this.checks.close()
  }
}
