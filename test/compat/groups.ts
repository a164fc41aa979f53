// Consumer groups (KIP-848) as foreign clients speak them, against one broker that is killed in between.
// usage: node test/compat/groups.ts [--bootstrap HOST:PORT] [--only REGEX]
// Without --bootstrap it starts Frazil itself, with short sessions. With it, any Kafka can be judged.
import { execFileSync, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Broker } from '../lib/broker.ts'

const here = dirname(fileURLToPath(import.meta.url))
const { values: flags } = parseArgs({ options: { bootstrap: { type: 'string' }, only: { type: 'string', default: '.' } } })

function shell(line: string): string {
  return execFileSync('bash', ['-c', `set -euo pipefail; source "${here}/lib/env.sh"; ${line}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}

const SETTINGS = { 'group.consumer.session.timeout.ms': '6000', 'group.consumer.heartbeat.interval.ms': '500' }
const broker = flags.bootstrap === undefined ? new Broker(SETTINGS) : null
await broker?.start()
const bootstrap = flags.bootstrap ?? broker!.bootstrap

function java(name: string): readonly string[] {
  const jars = shell(`java_jars client "${here}/clients/java/pom.xml"`)
  const classes = join(jars, 'classes-groups')
  shell(`javac -nowarn -cp "${jars}/*" -d "${classes}" "${here}/groups/${name}.java"`)
  return ['java', '-XX:TieredStopAtLevel=1', '-cp', `${classes}:${jars}/*`, name]
}

const clients: Readonly<Record<string, () => readonly string[]>> = {
  librdkafka: () => [shell(`python_env clients "${here}/clients/python/requirements.txt"`), join(here, 'groups/librdkafka.py')],
  java: () => java('Groups'),
  migration: () => java('Migration'),
}

/** Runs a client to its end; broker restarts that it asks for ("restart" on a line) are done meanwhile. */
function run([program, ...first]: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program!, [...first, '--bootstrap', bootstrap], { stdio: ['pipe', 'pipe', 'inherit'], timeout: 240_000 })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      process.stdout.write(text)
      if (!text.includes('restart')) return
      if (broker === null) child.stdin.write('restarted\n')
      else void broker.restart('SIGKILL').then(() => child.stdin.write('restarted\n'))
    })
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

let failed = 0
for (const [name, command] of Object.entries(clients)) {
  if (!new RegExp(flags.only).test(name)) continue
  const code = await run(command())
  if (code !== 0) failed++
  console.log(code === 0 ? `ok    ${name}` : `FAIL  ${name}: exit ${code}`)
}
if (failed > 0 && broker !== null) console.log(broker.tail(40))
await broker?.destroy()
console.log(`groups: ${failed} of ${Object.keys(clients).length} clients failed`)
process.exit(failed > 0 ? 1 : 0)
