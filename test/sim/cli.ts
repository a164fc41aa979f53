import { parseArgs } from 'node:util'
import { FAULT_KINDS, type FaultKind } from './nemesis.ts'
import { runSeed, type SeedResult } from './seed.ts'
import { shortest } from './shortest.ts'

/** `npm run sim -- --seeds N [--from S] [--trace] [--seconds T] [--stop]`: see README.md. Exit 1 when a seed fails. */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    /** Ends after this many seconds, however many seeds are left. */
    seconds: { type: 'string', default: '1000000' },
    operations: { type: 'string' },
    faults: { type: 'string' },
    trace: { type: 'boolean', default: false },
    /** Ends with the first seed that fails, and looks for no shorter run. */
    stop: { type: 'boolean', default: false },
  },
})

// Thousands of errors are expected; their stacks are not.
Error.stackTraceLimit = values.trace ? 10 : 0
const first = Number(values.from)
const untilMs = performance.now() + Number(values.seconds) * 1000
const startMs = performance.now()
const startCpu = process.cpuUsage()
const options = {
  operations: values.operations === undefined ? undefined : Number(values.operations),
  kinds: values.faults?.split(',').filter((kind): kind is FaultKind => (FAULT_KINDS as readonly string[]).includes(kind)),
}
const faults = new Map<string, number>()
const failed: SeedResult[] = []
let seeds = 0
let records = 0
let transactions = 0
let reads = 0
let tableRows = 0
let forgotten = 0
let operations = 0
let fewestFaults = Infinity

for (let seed = first; seed < first + Number(values.seeds) && performance.now() < untilMs; seed++) {
  const result = await runSeed(seed, { ...options, keepTrace: values.trace })
  seeds++
  records += result.records
  transactions += result.transactions
  reads += result.reads
  tableRows += result.tableRows
  forgotten += result.forgotten
  operations += result.operations
  fewestFaults = Math.min(fewestFaults, result.faultTotal)
  for (const [kind, count] of result.faults) faults.set(kind, (faults.get(kind) ?? 0) + count)
  if (values.trace) console.log(result.trace.join('\n'))
  if (result.violations.length === 0) continue
  failed.push(result)
  console.log(`seed ${seed} FAILED (trace ${result.digest})`)
  for (const { kind, what } of result.violations.slice(0, 5)) console.log(`  ${kind}: ${what}`)
  if (values.stop) break
}

const seconds = (performance.now() - startMs) / 1000
const cpu = process.cpuUsage(startCpu)
const cpuSeconds = (cpu.user + cpu.system) / 1e6
console.log(`${seeds} seeds, ${(seeds / seconds).toFixed(1)} a second, ${(seeds / cpuSeconds).toFixed(1)} a CPU second`)
console.log(
  `${operations} operations, ${records} records, ${transactions} transactions, ${reads} reads checked, ${tableRows} table rows checked, ${forgotten} incarnations came, went and were forgotten; at least ${fewestFaults} faults a seed`,
)
console.log(
  [...faults]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', '),
)
console.log(failed.length === 0 ? 'no seed failed' : `${failed.length} seeds failed: ${failed.map(({ seed }) => seed).join(' ')}`)
if (failed.length > 0 && !values.trace && !values.stop) {
  const known = await shortest(failed[0])
  console.log(
    `\nThe shortest known run that fails: --from ${known.seed} --seeds 1 --operations ${known.operations} --faults ${known.kinds.join(',')} --trace`,
  )
  console.log(known.result.trace.slice(-60).join('\n'))
  for (const { kind, what } of known.result.violations.slice(0, 5)) console.log(`  ${kind}: ${what}`)
}
process.exitCode = failed.length === 0 ? 0 : 1
