import { parseArgs } from 'node:util'
import { FrazilError } from '../errors.ts'
import { configProblem, type ConfigDefinition } from './definition.ts'
import { BROKER_SETTINGS, environmentName, SETTINGS, type Settings } from './settings.ts'

const all: readonly ConfigDefinition[] = [...SETTINGS, ...BROKER_SETTINGS]
const flagOf = (name: string): string => name.replace(/\./g, '-')

/** With a store in S3 each put costs money: what waits behind one waits longer, and for more bytes. */
const S3_LINGER_MS = 100
const S3_WAL_BYTES = 16 << 20

function bad(message: string): FrazilError {
  return new FrazilError('SETTING_INVALID', message)
}

/** Values of one source by setting name; an unknown name is an error that names its source. */
type Source = ReadonlyMap<string, { readonly text: string; readonly shown: string }>

/** `--retention -1` as one argument: a value that begins with a dash and a digit is no flag. */
function joined(args: readonly string[]): string[] {
  const result: string[] = []
  for (const arg of args) {
    const flag = result.at(-1)
    if (/^-\d/.test(arg) && flag !== undefined && /^--[^=]+$/.test(flag)) result[result.length - 1] = `${flag}=${arg}`
    else result.push(arg)
  }
  return result
}

function fromFlags(args: readonly string[]): { readonly values: Source; readonly configFile: string | undefined } {
  const options = Object.fromEntries(
    [...all.map((setting) => flagOf(setting.name)), 'config'].map((flag) => [flag, { type: 'string' as const }]),
  )
  let parsed
  try {
    parsed = parseArgs({
      args: joined(args.map((arg) => arg.replace(/^--[a-z0-9.-]+/, (flag) => flag.replace(/\./g, '-')))),
      options,
      strict: true,
      allowPositionals: false,
    })
  } catch (error) {
    throw bad(`${(error as Error).message.split(/\.?[ \n](?=[A-Z])/)[0]}; frazil --help lists the settings`)
  }
  const given = parsed.values as Record<string, string | undefined>
  const values = new Map<string, { text: string; shown: string }>()
  for (const setting of all) {
    const text = given[flagOf(setting.name)]
    if (text !== undefined) values.set(setting.name, { text, shown: `--${flagOf(setting.name)}` })
  }
  return { values, configFile: given['config'] }
}

function fromEnvironment(environment: Readonly<Record<string, string | undefined>>): Source {
  const values = new Map<string, { text: string; shown: string }>()
  for (const setting of all) {
    const name = environmentName(setting.name)
    const text = environment[name]
    if (text !== undefined && text !== '') values.set(setting.name, { text, shown: name })
  }
  return values
}

function fromFile(document: unknown, file: string): Source {
  const values = new Map<string, { text: string; shown: string }>()
  if (document === null || document === undefined) return values
  if (typeof document !== 'object' || Array.isArray(document)) throw bad(`${file} must hold one setting a line, as "name: value"`)
  for (const [name, value] of Object.entries(document)) {
    const setting = all.find((one) => one.name === name || flagOf(one.name) === name)
    if (setting === undefined) throw bad(`${file} has an unknown setting "${name}"; frazil --help lists the settings`)
    if (value === null || typeof value === 'object') throw bad(`${name} in ${file} must be a plain value`)
    values.set(setting.name, { text: String(value), shown: `${name} in ${file}` })
  }
  return values
}

/**
 * Reads the settings: flags win over the environment, that over the file. Throws SETTING_INVALID with one sentence that
 * names the setting. `readFile` gives the parsed YAML of `--config` or FRAZIL_CONFIG.
 */
export function loadSettings(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => unknown,
): Settings {
  const flags = fromFlags(args)
  const path = flags.configFile ?? environment['FRAZIL_CONFIG']
  const sources: readonly Source[] = [
    flags.values,
    fromEnvironment(environment),
    path === undefined || path === '' ? new Map() : fromFile(readFile(path), path),
  ]
  const broker = new Map<string, string>()
  const value = (name: string): string => {
    const definition = all.find((setting) => setting.name === name)!
    const found = sources.map((source) => source.get(name)).find((one) => one !== undefined)
    if (found === undefined) return definition.default ?? ''
    const problem = configProblem(definition, found.text)
    if (problem !== null) throw bad(`${found.shown}: ${problem}`)
    return found.text.trim()
  }
  for (const setting of BROKER_SETTINGS) {
    if (sources.some((source) => source.has(setting.name))) broker.set(setting.name, value(setting.name))
  }
  const number = (name: string): number => {
    const result = Number(value(name))
    if (!Number.isSafeInteger(result)) throw bad(`${name}: ${value(name)} is too large`)
    return result
  }
  /** A default of its own where the store is in S3. */
  const orOnS3 = (name: string, onS3: number): number =>
    /^s3a?:/.test(value('store')) && !sources.some((source) => source.has(name)) ? onS3 : number(name)
  return {
    listeners: value('listeners'),
    advertisedListeners: value('advertised-listeners'),
    http: value('http'),
    store: value('store'),
    metadata: value('metadata'),
    s3Endpoint: value('s3-endpoint'),
    s3PathStyle: value('s3-path-style').toLowerCase() === 'true',
    pod: value('pod'),
    podListener: value('pod-listener'),
    advertisedPodListener: value('advertised-pod-listener'),
    podSecret: value('pod-secret'),
    fsync: value('fsync').toLowerCase() === 'true',
    walLingerMs: orOnS3('wal-linger-ms', S3_LINGER_MS),
    walMaxBytes: orOnS3('wal-max-bytes', S3_WAL_BYTES),
    walInlineMaxBytes: number('wal-inline-max-bytes'),
    walGraceMs: number('wal-grace-ms'),
    walEvacuateMs: number('wal-evacuate-ms'),
    cacheBytes: number('cache-bytes'),
    tableCacheBytes: number('table-cache-bytes'),
    requestMemoryBytes: number('request-memory-bytes'),
    connectionMemoryBytes: number('connection-memory-bytes'),
    responseMemoryBytes: number('response-memory-bytes'),
    backlogMaxBytes: number('backlog-max-bytes'),
    convertBytes: number('convert-bytes'),
    convertWorkers: number('convert-workers'),
    readWorkers: number('read-workers'),
    conversion: value('conversion') as 'on' | 'paused',
    snapshotBytes: number('snapshot-bytes'),
    schemaRegistry: value('schema-registry'),
    schemaRegistryUser: value('schema-registry-user'),
    schemaRegistryPassword: value('schema-registry-password'),
    logLevel: value('log-level'),
    broker,
  }
}

/** The folder of `file:…`; anything else is refused with a sentence. */
export function folderOf(setting: string, text: string): string {
  if (text.startsWith('file:')) {
    const path = text.startsWith('file://') ? decodeURIComponent(new URL(text).pathname) : text.slice('file:'.length)
    if (path === '') throw bad(`${setting}: ${text} names no folder`)
    return path
  }
  throw bad(`${setting}: ${text} must be file:FOLDER`)
}

/** host:port of an HTTP address; [::1]:8181 too. */
export function hostPort(setting: string, text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text)
  if (match === null || Number(match[3]) > 65535) throw bad(`${setting}: ${text} must be HOST:PORT`)
  return { host: match[1] ?? match[2] ?? '', port: Number(match[3]) }
}
