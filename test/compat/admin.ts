// Kafka's own admin client (Java) against one Frazil on a folder and against three pods on one bucket: every call of the admin API, and what a
// producer and a consumer see of it.
// usage: node test/compat/admin.ts [--nodes 1,3]        BOOTSTRAP=HOST:PORT runs it against a broker that is there
import { execFileSync, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Broker } from '../lib/broker.ts'
import { FakeS3 } from '../lib/fakeS3.ts'

const { values: flags } = parseArgs({ options: { nodes: { type: 'string', default: '1,3' } } })
const here = dirname(fileURLToPath(import.meta.url))
const jars = execFileSync(
  'bash',
  ['-c', `set -euo pipefail; source "${here}/lib/env.sh"; java_jars client "${join(here, 'clients/java/pom.xml')}"`],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
).trim()
process.env['AWS_ACCESS_KEY_ID'] ??= 'admin'
process.env['AWS_SECRET_ACCESS_KEY'] ??= 'admin'

/** Beside this process, which may be the store. */
function judge(bootstrap: string, nodes: number): Promise<boolean> {
  console.log(`${nodes} node(s):`)
  const program = [join(here, 'admin/AdminCheck.java'), bootstrap, String(nodes)]
  const java = spawn('java', ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-cp', `${jars}/*`, ...program], {
    stdio: 'inherit',
    timeout: 150_000,
  })
  return new Promise((resolve) => java.once('exit', (code) => resolve(code === 0)))
}

async function run(count: number): Promise<boolean> {
  const s3 = count > 1 ? await FakeS3.start('bucket') : null
  const shared: Record<string, string> =
    s3 === null ? {} : { store: 's3://bucket/admin', 's3-endpoint': s3.endpoint, 's3-path-style': 'true' }
  const pods = Array.from({ length: count }, (_, i) => new Broker({ ...shared, pod: `pod-${i}`, 'group-initial-rebalance-delay-ms': '0' }))
  try {
    for (const pod of pods) await pod.start()
    return await judge(pods.map((pod) => pod.bootstrap).join(), count)
  } finally {
    for (const pod of pods) await pod.destroy()
    await s3?.stop()
  }
}

const { BOOTSTRAP } = process.env
const outcomes: boolean[] = []
if (BOOTSTRAP !== undefined) outcomes.push(await judge(BOOTSTRAP, 1))
else for (const count of flags.nodes.split(',')) outcomes.push(await run(Number(count)))
process.exitCode = outcomes.every(Boolean) ? 0 : 1
