import { type Applied, followEntry } from '../../../src/metadata/apply/apply.ts'
import { assembleEntry, encodeCommand } from '../../../src/metadata/codec.ts'
import type { Command, CommitTable, Result, WalPart } from '../../../src/metadata/commands.ts'
import { Rooms, State } from '../../../src/metadata/state/state.ts'
import { part, type TestBatch, topicCommand } from './helpers.ts'

/** `apply` alone, without a log: one command an entry, a second apart. */
export class Bench {
  readonly rooms: Rooms
  readonly state: State
  #nowMs: number
  #walSequence = 0

  constructor(rooms = new Rooms(), nowMs = 1_700_000_000_000, level = 1) {
    this.rooms = rooms
    this.state = new State(rooms)
    this.#nowMs = nowMs
    if (rooms.lastEntry === 0)
      this.apply({ kind: 'registerIncarnation', pod: 'pod-a', nonce: Buffer.alloc(16, 1), level, fenceOlder: true })
    if (level > rooms.level) this.apply({ kind: 'setLevel', level })
    this.#walSequence = rooms.podRows.incarnations.get(1)!.lastWalSequence
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** One entry of these commands, of this incarnation, from its next sequence on (or the one given). */
  entry(
    commands: readonly Command[],
    more: { incarnation?: number; sequence?: number; timeMs?: number; attachmentBytes?: number; attachmentOffset?: number } = {},
  ): Applied {
    const { rooms } = this
    const register = commands[0].kind === 'registerIncarnation'
    const incarnation = register ? 0 : (more.incarnation ?? 1)
    const first = register ? 0 : (more.sequence ?? (rooms.podRows.incarnations.get(incarnation)?.lastSequence ?? 0) + 1)
    this.#nowMs += 1000
    const { attachmentBytes = 0, attachmentOffset = 0, timeMs = this.#nowMs } = more
    const head = { number: rooms.lastEntry + 1, previousHash: rooms.lastHash, timeMs, writer: incarnation, attachmentBytes }
    const proposals = commands.map((command, i) => ({
      incarnation,
      sequence: first === 0 ? 0 : first + i,
      attachmentOffset,
      bytes: encodeCommand(command),
    }))
    return followEntry(rooms, { number: head.number, bytes: assembleEntry(head, proposals), attachmentBytes })
  }

  apply(command: Command, more?: Parameters<Bench['entry']>[1]): Result {
    return this.entry([command], more).results[0]
  }

  topic(name: string, partitions = 1): number {
    const result = this.apply(topicCommand(name, partitions))
    if (result.kind !== 'topic') throw new Error(JSON.stringify(result))
    return result.topic
  }

  /** A WAL object with these parts; its key is `wal/<sequence>`. */
  wal(...parts: WalPart[]): Extract<Result, { kind: 'wal' }> {
    const walSequence = ++this.#walSequence
    const sizeBytes = Math.max(1, ...parts.map((p) => p.byteOffset + p.sizesBytes.reduce((a, b) => a + b, 0)))
    const result = this.apply({ kind: 'commitWal', key: `wal/${walSequence}`, sizeBytes, walSequence, parts })
    if (result.kind !== 'wal') throw new Error(JSON.stringify(result))
    return result
  }

  nextWalSequence(): number {
    return ++this.#walSequence
  }

  /** Batches of one partition as an object of their own; [errors, base offsets]. */
  produce(topic: number, partition: number, ...batches: TestBatch[]): [readonly number[], readonly number[]] {
    const { errors, baseOffsets } = this.wal(part(topic, partition, 0, ...batches)).parts[0]
    return [errors, baseOffsets]
  }

  commitTable(topic: number, more: Partial<CommitTable>): string {
    const table = this.state.table(topic)
    const result = this.apply({
      kind: 'commitTable',
      topic,
      expectedVersion: table?.version ?? 0,
      metadataKey: `m${(table?.version ?? 0) + 1}`,
      publication: (table?.publication ?? 0) + 1,
      snapshotId: 1,
      converted: [],
      added: [],
      removed: [],
      obsolete: [],
      dataTimeMs: 1,
      ...more,
    })
    if (result.kind !== 'table') throw new Error(JSON.stringify(result))
    return result.accepted ? 'accepted' : result.reason
  }

  /** `wal:first-last@object+byte` and `table:first-last[files]` of a partition. */
  extents(topic: number, partition = 0): string[] {
    return [...this.state.extents(topic, partition, 0)].map((e) =>
      e.kind === 'wal'
        ? `wal:${e.firstOffset}-${e.lastOffset}@${e.object}+${e.byteOffset}`
        : e.kind === 'marker'
          ? `${e.isCommit ? 'commit' : 'abort'}:${e.firstOffset}@${e.producerId}/${e.producerEpoch}`
          : `table:${e.firstOffset}-${e.lastOffset}[${e.files.join()}]`,
    )
  }
}

/** A file with one range a partition: [partition, first, last]. */
export function file(key: string, ...ranges: [number, number, number][]): CommitTable['added'][number] {
  const rows = ranges.reduce((sum, [, first, last]) => sum + last - first + 1, 0)
  return {
    key,
    sizeBytes: rows * 10,
    rows,
    level: 0,
    ranges: ranges.map(([partition, firstOffset, lastOffset]) => ({
      partition,
      firstOffset,
      lastOffset,
      rows: lastOffset - firstOffset + 1,
      maxTimestampMs: lastOffset,
      originalBytes: (lastOffset - firstOffset + 1) * 10,
    })),
  }
}
