// What a hostile client, a full disk, a second process, a wrong setting and a heavy load may do, by black box against the running broker.
// usage: node test/compat/limits.ts [--long] [--only wire,disk,starts,memory,groups,shutdown,idle]
import { parseArgs } from 'node:util'
import { Broker } from '../lib/broker.ts'
import { badDisks } from './limits/disk.ts'
import { groups } from './limits/groups.ts'
import { finish, part } from './limits/report.ts'
import { memory } from './limits/memory.ts'
import { idle, shutdown } from './limits/shutdown.ts'
import { starts } from './limits/starts.ts'
import { hostileWire } from './limits/wire.ts'

const { values: flags } = parseArgs({ options: { long: { type: 'boolean', default: false }, only: { type: 'string', default: '' } } })
const wanted = (name: string): boolean => flags.only === '' || flags.only.split(',').includes(name)

if (wanted('wire')) {
  await part('hostile wire', async () => {
    const broker = new Broker()
    await broker.start()
    try {
      await hostileWire(broker)
    } finally {
      await broker.destroy()
    }
  })
}
// both mostly wait
await Promise.all([wanted('disk') && part('bad disks', badDisks), wanted('starts') && part('starts', starts)])
if (wanted('memory')) await part('memory', () => memory(flags.long))
if (wanted('groups')) await part('groups', () => groups(flags.long))
if (wanted('shutdown')) await part('shutdown', () => shutdown(flags.long ? 30 : 5))
if (wanted('idle') && (flags.long || flags.only !== '')) await part('idle', () => idle(60))
process.exit(finish())
