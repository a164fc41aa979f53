import { type Command, TXN_ADDED, TXN_IMPLICIT, type WalPart } from '../../../src/metadata/commands.ts'
import { shardOf } from '../../../src/metadata/state/shards.ts'
import type { State } from '../../../src/metadata/state/state.ts'
import type { TransactionView } from '../../../src/metadata/view.ts'
import type { Random } from './randomCommands.ts'

/** Some command about a transactional id: mostly one that makes sense, now and then of an old epoch or of nobody. */
export function randomTransaction(random: Random, state: State): Command {
  const rows = [...state.transactions()]
  const row = random.pick(rows)
  const transactionalId = row?.transactionalId ?? `t${random.int(4)}`
  if (row === undefined || random.chance(0.1)) {
    const isExpected = row !== undefined && random.chance(0.5)
    const { producerId, producerEpoch } = isExpected ? owner(random, row) : { producerId: -1, producerEpoch: -1 }
    return { kind: 'initTransaction', transactionalId: `t${random.int(4)}`, timeoutMs: random.int(1000), producerId, producerEpoch }
  }
  const own = { transactionalId, ...owner(random, row) }
  const topic = random.pick([...state.topics()])
  const groupId = `g${random.int(5)}`
  const roll = random.int(20)
  if (roll < 3) {
    const partitions = topic === undefined ? [] : [{ topic: topic.topic, partition: random.int(3) }]
    return { kind: 'addToTransaction', ...own, partitions, groupId: random.chance(0.5) ? groupId : '' }
  }
  if (roll < 7) {
    const item = { offset: random.int(100), leaderEpoch: -1, metadata: 'txn', commitTimeMs: random.int(1000), expireTimeMs: -1 }
    const items = [{ topic: topic?.topic ?? 99, partition: random.int(3), ...item }]
    const shardEpoch = state.shard(shardOf(groupId)).epoch
    return { kind: 'commitTransactionOffsets', ...own, shardEpoch, groupId, items, addGroup: random.chance(0.7) }
  }
  if (roll < 16) return { kind: 'endTransaction', ...own, isCommit: random.chance(0.5), raisesEpoch: random.chance(0.7) }
  if (roll < 17) return { kind: 'expireTransaction', ...own, startMs: row.startMs }
  if (roll < 18 && random.chance(0.2)) return { kind: 'forgetTransactionalIds', items: [{ ...own, updateMs: row.updateMs }] }
  const marker = { topic: topic?.topic ?? 99, partition: random.int(3), isCommit: random.chance(0.5), transactionVersion: random.int(3) }
  return { kind: 'writeMarkers', markers: [{ ...marker, producerId: own.producerId, producerEpoch: own.producerEpoch }] }
}

function owner(random: Random, row: TransactionView): { readonly producerId: number; readonly producerEpoch: number } {
  return { producerId: row.producerId, producerEpoch: Math.max(0, row.producerEpoch - (random.chance(0.1) ? 1 : 0)) }
}

/** Turns the last part into one of transactions that there are, of several producers side by side. */
export function makeTransactional(random: Random, state: State, parts: WalPart[]): void {
  const rows = [...state.transactions()]
  if (rows.length === 0) return
  const part = parts[parts.length - 1]
  const next = new Map<number, number>()
  const batches = part.sizesBytes.map((_, i) => {
    const row = random.pick(rows)!
    const { producerId, producerEpoch } = owner(random, row)
    const known = state.producer(part.topic, part.partition, producerId)
    const last = known?.epoch === producerEpoch ? known.batches.at(-1) : undefined
    const sequence = next.get(producerId) ?? (last === undefined ? 0 : last.lastSequence + 1)
    next.set(producerId, sequence + part.offsetCounts[i])
    return { producerId, producerEpoch, sequence, kind: random.chance(0.1) ? 0 : random.chance(0.3) ? TXN_ADDED : TXN_IMPLICIT }
  })
  parts[parts.length - 1] = {
    ...part,
    producerIds: batches.map((batch) => batch.producerId),
    producerEpochs: batches.map((batch) => batch.producerEpoch),
    baseSequences: batches.map((batch) => batch.sequence),
    transactions: batches.map((batch) => batch.kind),
  }
}
