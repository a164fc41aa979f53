import type { FastifyInstance } from 'fastify'
import type { Settings } from '../base/config/settings.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import { registerSchemas } from '../schemas/api/register.ts'
import { SchemaRegistry } from '../schemas/registry/registry.ts'
import { parseAddress } from '../schemas/remote/client.ts'
import { RemoteSchemaSource } from '../schemas/remote/remoteSource.ts'
import type { SchemaSource } from '../schemas/source.ts'

export interface Schemas {
  /** Where the schemas of records come from: the own registry, or the outside one that is set. */
  readonly source: SchemaSource
  /** Mounts of the HTTP server: none with an outside registry, which clients ask themselves. */
  readonly mounts: readonly { readonly prefix: string; readonly register: (app: FastifyInstance) => void }[]
  close(): Promise<void>
}

/** Error: SETTING_INVALID. */
export function openSchemas(settings: Settings, metadata: Metadata, logger: Logger): Schemas {
  const { schemaRegistry, schemaRegistryUser, schemaRegistryPassword } = settings
  if (schemaRegistry !== '') {
    const source = new RemoteSchemaSource(parseAddress(schemaRegistry, schemaRegistryUser, schemaRegistryPassword))
    return { source, mounts: [], close: () => Promise.resolve() }
  }
  const registry = new SchemaRegistry(metadata)
  const register = (app: FastifyInstance): void => registerSchemas(app, { registry, logger, clusterId: () => metadata.state.clusterId })
  return { source: registry.source, mounts: [{ prefix: '/schemas', register }], close: () => registry.close() }
}
