import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { HeaderView } from './records.ts'

const here = dirname(fileURLToPath(import.meta.url))
const run = promisify(execFile)

/** A foreign client: how it is started and what it can say. */
export interface Client {
  readonly name: string
  readonly command: readonly string[]
  /** Records it can write: `full`, `plain` (headers as a map) or none at all. */
  readonly writes: 'full' | 'plain' | null
  readonly codecs: readonly string[]
  readonly acks: readonly string[]
  readonly idempotent: boolean
  readonly reads: 'seek' | 'start' | null
  readonly headers: HeaderView
  readonly groups: boolean
  readonly timeLookup: boolean
}

function shell(line: string): string {
  return execFileSync('bash', ['-c', `set -euo pipefail; source "${here}/lib/env.sh"; ${line}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}

const ALL = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** Installs what is missing and gives the clients. */
export function installClients(only: RegExp): Client[] {
  const node = (file: string): readonly string[] => [process.execPath, join(here, 'clients/node', file)]
  const list: (() => Client)[] = []
  const add = (name: string, make: () => Omit<Client, 'name'>): void => {
    if (only.test(name)) list.push(() => ({ name, ...make() }))
  }
  const python = (file: string): readonly string[] => [
    shell(`python_env clients "${here}/clients/python/requirements.txt"`),
    join(here, 'clients/python', file),
  ]
  const full = {
    writes: 'full',
    codecs: ALL,
    acks: ['all', '1', '0'],
    idempotent: true,
    reads: 'seek',
    headers: 'ordered',
    groups: true,
    timeLookup: true,
  } as const
  add('java', () => {
    const jars = shell(`java_jars client "${here}/clients/java/pom.xml"`)
    const classes = join(jars, 'classes')
    shell(`javac -nowarn -cp "${jars}/*" -d "${classes}" "${here}/clients/java/Client.java"`)
    return { ...full, command: ['java', '-XX:TieredStopAtLevel=1', '-cp', `${classes}:${jars}/*`, 'Client'] }
  })
  add('librdkafka', () => ({ ...full, command: python('librdkafka.py') }))
  add('kafka-python', () => ({ ...full, command: python('kafka_python.py'), writes: 'plain' }))
  add('franz-go', () => ({ ...full, command: [shell(`go_binary compat "${here}/clients/go"`)] }))
  add('kafkajs', () => ({
    ...full,
    command: node('kafkajs.mjs'),
    writes: 'plain',
    reads: 'start',
    headers: 'grouped',
  }))
  add('platformatic', () => ({
    ...full,
    command: node('platformatic.mjs'),
    writes: 'plain',
    reads: 'start',
    acks: ['all', '1'],
    timeLookup: true,
  }))
  add('kcat', () => {
    shell('command -v kcat >/dev/null || { apt-get update -qq && apt-get install -y -qq kcat; } >&2')
    return { ...full, command: [process.execPath, join(here, 'clients/node/kcat.mjs')], writes: null, headers: 'none', groups: false }
  })
  return list.map((make) => make())
}

/** Runs a client; its output, or an error with what it said. */
export async function runClient(client: Client, action: string, options: Readonly<Record<string, string | boolean>>): Promise<string> {
  const flags = Object.entries(options).flatMap(([name, value]) =>
    value === false ? [] : value === true ? [`--${name}`] : [`--${name}`, value],
  )
  const [program, ...first] = client.command
  try {
    const { stdout } = await run(program!, [...first, action, ...flags], {
      timeout: 150_000,
      maxBuffer: 1 << 26,
      env: { ...process.env, KAFKAJS_NO_PARTITIONER_WARNING: '1' },
    })
    return stdout.trim()
  } catch (error) {
    const { stderr, stdout, message } = error as { stderr?: string; stdout?: string; message: string }
    throw new Error(
      `${client.name} ${action} failed: ${(stderr || stdout || message).trim().split('\n').slice(-6).join(' | ').slice(0, 1500)}`,
      { cause: error },
    )
  }
}

/** A short name for a topic out of what it is for. */
export function topicName(...parts: readonly string[]): string {
  return `compat-${parts.join('-').replace(/[^a-zA-Z0-9-]/g, '')}-${createHash('sha256').update(String(process.pid)).digest('hex').slice(0, 6)}`
}
