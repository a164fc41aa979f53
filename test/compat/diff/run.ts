// Sends the same requests to Apache Kafka 4.4.0 and to Frazil and compares the answers. See README.md.
// usage: npm run diff -- [--only NAME] [--kafka PORT --frazil PORT] [--seed N] [--rounds N]
import { parseArgs } from 'node:util'
import { ACCEPTED } from './accepted.ts'
import { apiName, compareSteps, type Difference } from './compare.ts'
import { startPeers } from './peers.ts'
import type { Scenario } from './scenarios/index.ts'
import { fetchSessions } from './scenarios/fetchSessions.ts'
import { produceFetch } from './scenarios/produceFetch.ts'
import { Side } from './side.ts'
import { warm } from './world.ts'

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, seed: { type: 'string', default: '1' }, rounds: { type: 'string', default: '20' } },
})

const scenarios: readonly Scenario[] = [...produceFetch, ...fetchSessions]

async function runOne(
  scenario: Scenario,
  ports: Readonly<Record<'kafka' | 'frazil', number>>,
): Promise<{ found: Difference[]; steps: number }> {
  const sides = [new Side('kafka', ports.kafka), new Side('frazil', ports.frazil)] as const
  await Promise.all(
    sides.map(async (side) => {
      try {
        await scenario.run(side)
      } catch (error) {
        side.record(`threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, -1, 0, 'silence')
      } finally {
        await side.close()
      }
    }),
  )
  return { found: compareSteps(scenario.name, sides[0].steps, sides[1].steps), steps: sides[0].steps.length }
}

const matches = (one: (typeof ACCEPTED)[number], { key, path, scenario, label, kafka, frazil }: Difference): boolean =>
  one.key === key &&
  one.path === path &&
  (one.at?.test(`${scenario}: ${label}`) ?? true) &&
  (one.kafka?.test(kafka) ?? true) &&
  (one.frazil?.test(frazil) ?? true)

/** Differences of the same kind on one line. */
function report(found: readonly Difference[]): void {
  const kinds = new Map<string, { labels: Set<string>; versions: Set<number> }>()
  for (const { scenario, label, key, version, path, kafka, frazil } of found) {
    const kind = `${apiName(key)} (${key}) ${path}: kafka ${kafka}, frazil ${frazil}`
    const entry = kinds.get(kind) ?? { labels: new Set(), versions: new Set() }
    kinds.set(kind, entry)
    entry.labels.add(`${scenario}: ${label}`)
    entry.versions.add(version)
  }
  for (const [kind, { labels, versions }] of kinds) {
    const shown = [...labels].slice(0, 6).join(' | ')
    console.log(
      `DIFF ${kind}\n     v${[...versions].sort((a, b) => a - b).join(',')} at ${shown}${labels.size > 6 ? ` and ${labels.size - 6} more` : ''}`,
    )
  }
}

const peers = await startPeers()
let code = 1
try {
  const ports = { kafka: peers.kafkaPort, frazil: peers.frazil.kafkaPort }
  for (const name of ['kafka', 'frazil'] as const) {
    const side = new Side(name, ports[name])
    await warm(side)
    await side.close()
  }
  const all: Difference[] = []
  let steps = 0
  for (const scenario of scenarios) {
    if (options.only !== undefined && !scenario.name.includes(options.only)) continue
    const from = Date.now()
    const one = await runOne(scenario, ports)
    steps += one.steps
    all.push(...one.found)
    console.log(
      `     ${scenario.name}: ${one.steps} requests, ${one.found.length} differences, ${((Date.now() - from) / 1000).toFixed(1)} s`,
    )
  }
  const used = new Set<(typeof ACCEPTED)[number]>()
  const open = all.filter((difference) => {
    const accepted = ACCEPTED.find((one) => matches(one, difference))
    if (accepted !== undefined) used.add(accepted)
    return accepted === undefined
  })
  report(open)
  const gone = options.only === undefined ? ACCEPTED.filter((one) => !used.has(one)) : []
  for (const one of gone)
    console.log(`GONE ${apiName(one.key)} ${one.path} ${String(one.at ?? '')}: no longer occurs, strike it (${one.why})`)
  console.log(`diff: ${steps} requests to both, ${open.length} differences, ${all.length - open.length} accepted ones`)
  code = open.length === 0 && gone.length === 0 ? 0 : 1
} finally {
  await peers.destroy()
}
process.exit(code)
