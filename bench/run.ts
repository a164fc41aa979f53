// Frazil beside Apache Kafka 4.4.0: same machine, same run, interleaved; medians, ratios, every client flag.
// usage: npm run bench -- [--rounds 5] [--cells REGEX] [--megabytes 400] [--more]
// Client on core 0, broker on core 1. Throughput: Frazil with fsync (its default), Kafka as it ships (no fsync).
// Latency: both without fsync. --more adds cells: lz4, 1 and 100 partitions.
import { parseArgs } from 'node:util'
import { cellsOf, type Cell, type Measure } from './cells.ts'
import { kafkaJars, median } from './lib/process.ts'
import { FrazilSubject, KafkaSubject } from './lib/subjects.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    cells: { type: 'string', default: '.' },
    megabytes: { type: 'string', default: '400' },
    more: { type: 'boolean', default: false },
  },
})
const rounds = Number(flags.rounds)
const jars = kafkaJars()
const cells = cellsOf({ jars, bytes: Number(flags.megabytes) * 1e6, more: flags.more }).filter((cell) =>
  new RegExp(flags.cells).test(cell.name),
)
const results = new Map<string, Measure[]>()

async function measure(cell: Cell, name: 'frazil' | 'kafka'): Promise<Measure> {
  const subject = name === 'frazil' ? new FrazilSubject('1', cell.frazil) : new KafkaSubject('1', jars)
  await subject.start()
  try {
    return await cell.run(subject)
  } finally {
    await subject.destroy()
  }
}

for (let round = 0; round < rounds; round++) {
  for (const cell of cells) {
    // who goes first changes from round to round
    for (const name of round % 2 === 0 ? (['kafka', 'frazil'] as const) : (['frazil', 'kafka'] as const)) {
      const measured = await measure(cell, name)
      const key = `${cell.name}/${name}`
      results.set(key, [...(results.get(key) ?? []), measured])
      console.log(
        `round ${round + 1} ${name.padEnd(6)} ${cell.name.padEnd(34)} ${Object.entries(measured)
          .map(([what, value]) => `${what} ${value.toFixed(2)}`)
          .join('  ')}`,
      )
    }
  }
}

console.log('\nmedians of', rounds, 'rounds; ratio = frazil / kafka')
for (const cell of cells) {
  console.log(`\n${cell.name}\n  ${cell.flags}`)
  const of = (name: string): Measure[] => results.get(`${cell.name}/${name}`)!
  for (const what of Object.keys(of('frazil')[0]!)) {
    const ours = median(of('frazil').map((one) => one[what]!))
    const theirs = median(of('kafka').map((one) => one[what]!))
    console.log(
      `  ${what.padEnd(22)} frazil ${ours.toFixed(2).padStart(9)}   kafka ${theirs.toFixed(2).padStart(9)}   ratio ${(ours / theirs).toFixed(2)}   goal ${cell.goals[what] ?? '-'}`,
    )
  }
}
