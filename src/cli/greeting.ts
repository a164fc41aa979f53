import { resolve } from 'node:path'
import { folderOf } from '../base/config/load.ts'
import type { Settings } from '../base/config/settings.ts'
import { version } from './version.ts'

interface Address {
  readonly name: string
  readonly host: string
  readonly port: number
}

const authority = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host === '' ? '127.0.0.1' : host}:${port}`

/** What a newcomer reads first: what listens where, and three commands to try. */
export function greet(settings: Settings, listeners: readonly Address[], http: { readonly port: number }): void {
  const kafka = authority(listeners[0]!.host, listeners[0]!.port)
  const web = `http://${authority(settings.http.slice(0, settings.http.lastIndexOf(':')).replace(/^\[|\]$/g, ''), http.port)}`
  process.stdout.write(`frazil ${version()} is ready
  Kafka clients   ${listeners.map((one) => `${one.name}://${authority(one.host, one.port)}`).join(' ')}
  Iceberg catalog ${web}/iceberg
  Schema Registry ${settings.schemaRegistry === '' ? `${web}/schemas` : 'an outside one (schema-registry)'}
  metrics, health ${web}/metrics ${web}/health/ready
  bytes           ${settings.store.startsWith('file:') ? resolve(folderOf('store', settings.store)) : settings.store}
try
  produce         echo hello | kcat -P -b ${kafka} -t greetings
  consume         kcat -C -b ${kafka} -t greetings -e
  query           duckdb -c "INSTALL iceberg; LOAD iceberg; ATTACH '' AS frazil (TYPE iceberg, ENDPOINT '${web}/iceberg', AUTHORIZATION_TYPE 'none'); SELECT * FROM frazil.\\"default\\".greetings"
`)
}
