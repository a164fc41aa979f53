import { PartitionTable } from '../../../src/metadata/state/partitions.ts'

/** Run with --expose-gc: prints the bytes of memory that a partition with one extent keeps alive. */
const COUNT = 1 << 15

function used(): number {
  globalThis.gc!()
  globalThis.gc!()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const parts = new PartitionTable()
const before = used()
for (let i = 0; i < COUNT; i++) parts.indexForWrite(parts.add(1, i)).push(i)
const bytes = (used() - before) / COUNT
// Read after the measurement, so that the table is alive while it is measured.
if (parts.count !== COUNT) throw new Error('partitions are missing')
process.stdout.write(String(bytes))
