// How soon a large group settles on Frazil and on Apache Kafka 4.4.0, by both group protocols: same machine, same run, interleaved; medians.
// usage: npm run bench:groups -- [--members 100] [--partitions 1000] [--rounds 3] [--only classic|consumer]
// Members are Kafka's own consumers, with the defaults of client and broker (classic: CooperativeStickyAssignor), all in one JVM.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { kafkaJars, median, root, run } from './lib/process.ts'
import { FrazilSubject, KafkaSubject } from './lib/subjects.ts'

const { values: flags } = parseArgs({
  options: {
    members: { type: 'string', default: '100' },
    partitions: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
})
const jars = kafkaJars()
const classes = join(jars, 'classes-groups')
execFileSync('javac', ['-nowarn', '-cp', `${jars}/*`, '-d', classes, join(root, 'bench/groups/Settle.java')], { stdio: 'inherit' })

const STEPS = ['all start at once', 'a tenth leaves', 'as many come'] as const
const PROTOCOLS = ['classic', 'consumer'].filter((protocol) => protocol.includes(flags.only))
const results = new Map<string, number[]>()

async function measure(name: 'frazil' | 'kafka', protocol: string): Promise<void> {
  const subject =
    name === 'frazil' ? new FrazilSubject('0,1') : new KafkaSubject('0,1', jars, { 'group.initial.rebalance.delay.ms': '3000' })
  await subject.start()
  try {
    const java = [
      '-Xmx1g',
      '-XX:TieredStopAtLevel=1',
      '-cp',
      `${classes}:${jars}/*`,
      `-Dlog4j2.configurationFile=${jars}/log4j2.properties`,
    ]
    const { output } = await run('0,1', 'java', [...java, 'Settle', subject.bootstrap, protocol, flags.members, flags.partitions], 600_000)
    const found = /^(\d+) (\d+) (\d+)$/m.exec(output)
    if (found === null) throw new Error(`${name}, ${protocol}: ${output.slice(-2000)}`)
    const times = found.slice(1).map(Number)
    console.log(`${name.padEnd(6)} ${protocol.padEnd(8)} ${times.map((time, i) => `${STEPS[i]} ${time} ms`).join('  ')}`)
    times.forEach((time, i) => {
      const key = `${protocol} ${i} ${name}`
      results.set(key, [...(results.get(key) ?? []), time])
    })
  } finally {
    await subject.destroy()
  }
}

for (let round = 0; round < Number(flags.rounds); round++) {
  const order = round % 2 === 0 ? (['kafka', 'frazil'] as const) : (['frazil', 'kafka'] as const)
  for (const protocol of PROTOCOLS) for (const name of order) await measure(name, protocol)
}

console.log(
  `\nmedians of ${flags.rounds} rounds: ${flags.members} members, ${flags.partitions} partitions; seconds; ratio = frazil / kafka`,
)
for (const protocol of PROTOCOLS) {
  STEPS.forEach((step, i) => {
    const of = (name: string): number => median(results.get(`${protocol} ${i} ${name}`)!) / 1000
    const [ours, theirs] = [of('frazil'), of('kafka')]
    console.log(
      `  ${protocol.padEnd(9)} ${step.padEnd(18)} frazil ${ours.toFixed(1).padStart(6)}  kafka ${theirs.toFixed(1).padStart(6)}  ratio ${(ours / theirs).toFixed(2)}`,
    )
  })
}
