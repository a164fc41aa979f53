import { availableParallelism, hostname } from 'node:os'
import { BROKER_CONFIGS } from './brokerConfigs.ts'
import { type ConfigDefinition } from './definition.ts'

/** A setting of the process: a flag `--name`, an environment variable `FRAZIL_NAME` and a line of the YAML file. */
export interface SettingDefinition extends ConfigDefinition {
  /** How `--help` shows the default where it depends on the machine. */
  readonly defaultShown?: string
}

/** The process's own settings; Kafka's broker keys (brokerConfigs.ts) can be set the same three ways. */
const own: readonly SettingDefinition[] = [
  { name: 'listeners', type: 'STRING', default: 'PLAINTEXT://127.0.0.1:9092', doc: 'Addresses for Kafka clients, in Kafka’s syntax.' },
  {
    name: 'advertised-listeners',
    type: 'STRING',
    default: '',
    doc: 'What clients are told to connect to; the listeners themselves when empty.',
  },
  {
    name: 'http',
    type: 'STRING',
    default: '127.0.0.1:8181',
    doc: 'Address of the HTTP server: /iceberg, /schemas, /metrics, /health/live, /health/ready.',
  },
  { name: 'store', type: 'STRING', default: 'file:./frazil-data', doc: 'Where the bytes live: file:FOLDER or s3://BUCKET/PREFIX.' },
  {
    name: 'metadata',
    type: 'STRING',
    default: '',
    defaultShown: 'follows the store',
    doc: 'Where the metadata log lives: file:FOLDER, s3://BUCKET/PREFIX or postgres://USER:PASSWORD@HOST/DATABASE?schema=NAME (frazil).',
  },
  {
    name: 's3-endpoint',
    type: 'STRING',
    default: '',
    defaultShown: 'the AWS SDK’s own',
    doc: 'URL of an S3 server that is not AWS; region and credentials come from the AWS SDK’s usual environment.',
  },
  {
    name: 's3-path-style',
    type: 'BOOLEAN',
    default: 'false',
    doc: 'true: the bucket in the path instead of the host name, as most servers that are not AWS want.',
  },
  {
    name: 'pod',
    type: 'STRING',
    default: hostname(),
    defaultShown: 'host name',
    doc: 'Name of this pod, bound to one node id for ever.',
    check: (value) => (value === '' || value.length > 253 ? 'It needs 1 to 253 characters' : null),
  },
  {
    name: 'pod-listener',
    type: 'STRING',
    default: '',
    defaultShown: 'host of the first listener, any port',
    doc: 'HOST:PORT where other pods of the cluster reach this one, with a shared log.',
  },
  {
    name: 'advertised-pod-listener',
    type: 'STRING',
    default: '',
    defaultShown: 'host of the first advertised listener, port of the pod listener',
    doc: 'HOST:PORT that other pods are told; port 0 stands for that of the pod listener.',
  },
  {
    name: 'pod-secret',
    type: 'STRING',
    default: '',
    defaultShown: 'kept in the store under meta/pod-secret',
    doc: 'Known to the pods of one cluster, the same on all of them: it guards the traffic between them.',
  },
  {
    name: 'fsync',
    type: 'BOOLEAN',
    default: 'true',
    doc: 'false: acknowledge before the disk has the bytes, as Kafka does; for comparisons.',
  },
  {
    name: 'wal-linger-ms',
    type: 'INT',
    default: '5',
    defaultShown: '5; 100 with a store in S3',
    min: 0,
    max: 60000,
    doc: 'The longest a write-ahead buffer waits behind a commit in flight; with nothing in flight it closes at once.',
  },
  {
    name: 'wal-max-bytes',
    type: 'INT',
    default: '8388608',
    defaultShown: '8388608; 16777216 with a store in S3',
    min: 65536,
    max: 1073741824,
    doc: 'Size at which a write-ahead buffer closes.',
  },
  {
    name: 'wal-inline-max-bytes',
    type: 'INT',
    default: '8388608',
    min: 0,
    max: 8388608,
    doc: 'A write-ahead buffer up to this size rides inside its metadata entry: one disk flush instead of three.',
  },
  {
    name: 'wal-grace-ms',
    type: 'LONG',
    default: '60000',
    min: 0,
    doc: 'How long a fully converted write-ahead object stays before it is deleted.',
  },
  {
    name: 'wal-evacuate-ms',
    type: 'LONG',
    default: '300000',
    min: 1000,
    doc: 'Age at which what is left of a write-ahead object moves to segments of its topics.',
  },
  { name: 'cache-bytes', type: 'LONG', default: '134217728', min: 1048576, doc: 'Memory for recently written records.' },
  {
    name: 'table-cache-bytes',
    type: 'LONG',
    default: '268435456',
    min: 1048576,
    doc: 'Memory for row groups of table files that consumers read.',
  },
  {
    name: 'request-memory-bytes',
    type: 'LONG',
    default: '268435456',
    min: 1048576,
    doc: 'Memory for requests of all connections together; sockets wait when it is used up.',
  },
  {
    name: 'connection-memory-bytes',
    type: 'INT',
    default: '16777216',
    min: 65536,
    doc: 'Memory for requests of one connection; a larger single request still passes.',
  },
  {
    name: 'response-memory-bytes',
    type: 'LONG',
    default: '268435456',
    min: 1048576,
    doc: 'Memory for responses that wait for their clients to read; fetches are answered in smaller pieces as it fills.',
  },
  {
    name: 'backlog-max-bytes',
    type: 'LONG',
    default: '1073741824',
    min: 1048576,
    doc: 'Unconverted bytes beyond which producers are slowed.',
  },
  { name: 'convert-bytes', type: 'LONG', default: '67108864', min: 65536, doc: 'Unconverted bytes of a topic that start a conversion.' },
  {
    name: 'convert-workers',
    type: 'INT',
    default: String(Math.max(1, Math.min(4, availableParallelism() - 1))),
    defaultShown: 'cores - 1, 1 to 4',
    min: 1,
    max: 64,
    doc: 'Threads that write and merge table files.',
  },
  {
    name: 'read-workers',
    type: 'INT',
    default: String(Math.max(1, Math.min(4, availableParallelism() - 1))),
    defaultShown: 'cores - 1, 1 to 4',
    min: 1,
    max: 64,
    doc: 'Threads that turn table files back into record batches.',
  },
  { name: 'conversion', type: 'STRING', default: 'on', oneOf: ['on', 'paused'], doc: 'paused: no table is written; for benches.' },
  {
    name: 'snapshot-bytes',
    type: 'LONG',
    default: '4194304',
    min: 65536,
    doc: 'Growth of the metadata log after which a snapshot is written.',
  },
  {
    name: 'schema-registry',
    type: 'STRING',
    default: '',
    defaultShown: 'the own one, on /schemas',
    doc: 'URL of an outside schema registry that is asked instead; it may hold user and password.',
  },
  { name: 'schema-registry-user', type: 'STRING', default: '', doc: 'User name for the outside schema registry.' },
  { name: 'schema-registry-password', type: 'STRING', default: '', doc: 'Password for the outside schema registry.' },
  { name: 'log-level', type: 'STRING', default: 'info', oneOf: ['debug', 'info', 'warn', 'error'], doc: 'What is logged.' },
]

export const SETTINGS: readonly SettingDefinition[] = own

/** Broker keys that can be set at start, without those that `own` has. */
export const BROKER_SETTINGS: readonly ConfigDefinition[] = [...BROKER_CONFIGS.values()].filter(
  (definition) => !['listeners', 'advertised.listeners', 'broker.id', 'node.id'].includes(definition.name),
)

/** The settings as the rest of the program takes them. */
export interface Settings {
  readonly listeners: string
  readonly advertisedListeners: string
  readonly http: string
  readonly store: string
  readonly metadata: string
  readonly s3Endpoint: string
  readonly s3PathStyle: boolean
  readonly pod: string
  readonly podListener: string
  readonly advertisedPodListener: string
  readonly podSecret: string
  readonly fsync: boolean
  readonly walLingerMs: number
  readonly walMaxBytes: number
  readonly walInlineMaxBytes: number
  readonly walGraceMs: number
  readonly walEvacuateMs: number
  readonly cacheBytes: number
  readonly tableCacheBytes: number
  readonly requestMemoryBytes: number
  readonly connectionMemoryBytes: number
  readonly responseMemoryBytes: number
  readonly backlogMaxBytes: number
  readonly convertBytes: number
  readonly convertWorkers: number
  readonly readWorkers: number
  readonly conversion: 'on' | 'paused'
  readonly snapshotBytes: number
  readonly schemaRegistry: string
  readonly schemaRegistryUser: string
  readonly schemaRegistryPassword: string
  readonly logLevel: string
  /** Kafka's broker keys that were set, as text. */
  readonly broker: ReadonlyMap<string, string>
}

/** `wal-linger-ms` and `num.partitions` as environment variables. */
export function environmentName(setting: string): string {
  return 'FRAZIL_' + setting.replace(/[.-]/g, '_').toUpperCase()
}
