import { encodeCommand, assembleEntry } from '../../../src/metadata/codec.ts'
import type { AddedFile, Command, FileRange, WalPart } from '../../../src/metadata/commands.ts'
import type { RawEntry } from '../../../src/metadata/entryLog.ts'
import type { Extent } from '../../../src/metadata/view.ts'
import { shardOf } from '../../../src/metadata/state/shards.ts'
import { makeTransactional, randomTransaction } from './randomTransactions.ts'
import { type Rooms, State } from '../../../src/metadata/state/state.ts'

/** A small seeded generator (mulberry32): a seed gives the same commands for ever. */
export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed >>> 0
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  /** 0 up to, not including, `n`. */
  int(n: number): number {
    return Math.floor(this.next() * n)
  }
  chance(p: number): boolean {
    return this.next() < p
  }
  pick<T>(items: readonly T[]): T | undefined {
    return items[this.int(items.length)]
  }
  hex(length: number): string {
    return Array.from({ length }, () => this.int(16).toString(16)).join('')
  }
  uuid(): string {
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-8${this.hex(3)}-${this.hex(12)}`
  }
}

/** Makes commands that mostly make sense for the state, and some that do not; packs them into chained entries. */
export class CommandSource {
  readonly random: Random
  /** With transactions, from entry 2 on. */
  readonly #level: 1 | 2
  readonly #state: State
  readonly #sequences = new Map<string, number>()
  #files = 0
  #objects = 0

  constructor(seed: number, rooms: Rooms, level: 1 | 2 = 1) {
    this.random = new Random(seed)
    this.#level = level
    this.#state = new State(rooms)
  }

  /** The next entry of the chain, of one to four proposals of incarnation 1 (which entry 1 registers). */
  entry(): RawEntry {
    const { rooms } = this.#state
    const number = rooms.lastEntry + 1
    const own = rooms.podRows.incarnations.get(1)
    const commands = own === undefined ? [this.#register()] : this.#commands()
    let attachmentBytes = 0
    let sequence = own?.lastSequence ?? 0
    const proposals = commands.map((command) => {
      const attachmentOffset = command.kind === 'commitWal' && command.key === '' ? attachmentBytes : 0
      if (command.kind === 'commitWal' && command.key === '') attachmentBytes += command.sizeBytes
      // Now and then a proposal comes twice, or one is missing before it.
      if (own !== undefined && !this.random.chance(0.03)) sequence++
      const given = this.random.chance(0.01) ? sequence + 2 : sequence
      const first = own === undefined
      return { incarnation: first ? 0 : 1, sequence: first ? 0 : given, attachmentOffset, bytes: encodeCommand(command) }
    })
    const timeMs = 1_700_000_000_000 + number * 100 - this.random.int(300)
    const head = { number, previousHash: rooms.lastHash, timeMs, writer: own === undefined ? 0 : 1, attachmentBytes }
    return { number, bytes: assembleEntry(head, proposals), attachmentBytes }
  }

  #register(): Command {
    return {
      kind: 'registerIncarnation',
      pod: `pod-${this.random.int(3)}`,
      nonce: Buffer.from(this.random.hex(32), 'hex'),
      level: this.#level,
      fenceOlder: false,
    }
  }

  #commands(): Command[] {
    if (this.#level > this.#state.level) return [{ kind: 'setLevel', level: this.#level }]
    return Array.from({ length: 1 + this.random.int(4) }, () => this.command())
  }

  command(): Command {
    const { random } = this
    if (this.#level > 1 && random.chance(0.3)) return randomTransaction(random, this.#state)
    if (this.#level > 1 && random.chance(0.02)) return this.#createPartitions()
    const roll = random.int(100)
    if (roll < 45) return this.#commitWal()
    if (roll < 55) return this.#convert()
    if (roll < 60) return this.#merge()
    if (roll < 65) return this.#move()
    if (roll < 70) return this.#trim()
    if (roll < 75) return this.#createTopic()
    if (roll < 77) return this.#deleteTopic()
    if (roll < 80) return this.#alterConfigs()
    if (roll < 83) return { kind: 'deleted', ids: [...this.#state.deletions()].slice(0, 2).map((d) => d.id) }
    if (roll < 84) return { kind: 'enqueueDeletions', items: [{ key: `wal/0/9/${random.int(50)}.wal`, graceMs: random.int(1000) }] }
    if (roll < 85) return { kind: 'allocateProducerIds', count: random.int(5) }
    if (roll < 87) return { kind: 'expireProducers', items: [...this.#state.expiredProducers(this.#state.lastTimeMs - 2000, 3)] }
    if (roll < 89) return { kind: 'assignShards', shards: [{ shard: random.int(65), owner: random.int(3) }] }
    if (roll < 98) return this.#group()
    if (roll < 99) return this.#register()
    return { kind: 'dropTable', tableUuid: random.pick([...this.#state.tables()])?.uuid ?? '' }
  }

  #topic() {
    return this.random.pick([...this.#state.topics()])
  }

  #createTopic(): Command {
    const { random } = this
    const name = `t${random.pick(['.', '_', '-'])}${random.int(8)}`
    const table = { namespace: 'default', name: random.chance(0.5) ? 'Same' : 'same', uuid: random.uuid() }
    return {
      kind: 'createTopic',
      name,
      topicId: random.uuid(),
      partitions: random.int(4),
      configs: { 'retention.ms': '5', b: name },
      table,
    }
  }

  #createPartitions(): Command {
    const topic = this.#topic()
    return { kind: 'createPartitions', topic: topic?.topic ?? 99, partitions: (topic?.partitions ?? 0) + this.random.int(3) }
  }

  #deleteTopic(): Command {
    return { kind: 'deleteTopic', topic: this.#topic()?.topic ?? 99, keepTableAs: this.random.chance(0.5) ? 'kept' : '', graceMs: 10 }
  }

  #alterConfigs(): Command {
    const topic = this.#topic()
    const targets = [{ broker: '' }, { broker: '0' }, { group: `g${this.random.int(3)}` }, { topic: topic?.topic ?? 99 }]
    return {
      kind: 'alterConfigs',
      target: this.random.pick(targets)!,
      set: { [`k${this.random.int(4)}`]: 'v' },
      remove: [`k${this.random.int(4)}`],
    }
  }

  #commitWal(): Command {
    const { random } = this
    const parts: WalPart[] = []
    let at = 0
    for (let i = random.int(3); i >= 0; i--) {
      const topic = this.#topic()
      const partition = random.int(3)
      const count = 1 + random.int(4)
      const many = <T>(make: () => T): T[] => Array.from({ length: count }, make)
      const idempotent = random.chance(0.6)
      const producerIds = many(() => (idempotent ? random.int(3) : -1))
      const offsetCounts = many(() => 1 + random.int(5))
      const producerEpochs = producerIds.map((id) => (id < 0 ? -1 : random.chance(0.05) ? 1 : 0))
      const baseSequences = producerIds.map((id, j) =>
        id < 0 ? -1 : this.#sequence(topic?.topic ?? 0, partition, id, producerEpochs[j], offsetCounts[j]),
      )
      const sizesBytes = many(() => 50 + random.int(100))
      parts.push({
        topic: topic?.topic ?? 99,
        partition,
        byteOffset: at,
        sizesBytes,
        offsetCounts,
        maxTimestampsMs: many(() => random.int(100_000) - 1),
        producerIds,
        producerEpochs,
        baseSequences,
        appendTimesMs: many(() => (random.chance(0.5) ? -1 : random.int(1000))),
      })
      if (this.#level > 1 && topic !== undefined && random.chance(0.6)) makeTransactional(random, this.#state, parts)
      at += sizesBytes.reduce((a, b) => a + b, 0)
    }
    const walSequence = random.chance(0.97) ? this.#nextWalSequence() : 1
    const key = random.chance(0.4) ? '' : `wal/0/1/${walSequence}-${this.#objects}.wal`
    return { kind: 'commitWal', key, sizeBytes: at, walSequence, parts }
  }

  #nextWalSequence(): number {
    this.#objects = Math.max(this.#objects, this.#state.incarnation(1)!.lastWalSequence) + 1
    return this.#objects
  }

  /** Mostly what comes next, now and then again what was, or what never was; near the wrap on odd producers. */
  #sequence(topic: number, partition: number, id: number, epoch: number, count: number): number {
    const key = `${topic}:${partition}:${id}:${epoch}`
    const next = this.#sequences.get(key) ?? (epoch > 0 ? 0 : id === 1 ? 0x7ffffff0 : 0)
    if (this.random.chance(0.1)) return Math.max(0, next - this.random.int(8))
    this.#sequences.set(key, (next + count) % 0x80000000)
    return next
  }

  #trim(): Command {
    const trims = Array.from({ length: 1 + this.random.int(2) }, () => {
      const topic = this.#topic()
      const partition = this.random.int(3)
      const end = (topic && this.#state.partition(topic.topic, partition)?.endOffset) ?? 0
      return { topic: topic?.topic ?? 99, partition, logStartOffset: this.random.int(end + 2) }
    })
    return { kind: 'trimPartitions', trims }
  }

  #extents(topic: number, partition: number): Extent[] {
    return [...this.#state.extents(topic, partition, 0)]
  }

  #file(ranges: FileRange[], level: number): AddedFile {
    const rows = ranges.reduce((sum, range) => sum + range.rows, 0)
    return { key: `f${this.#files++}`, sizeBytes: rows * 10, rows, level, ranges }
  }

  #convert(): Command {
    const topic = this.#topic()
    const converted: { partition: number; firstOffset: number; lastOffset: number }[] = []
    const ranges: FileRange[] = []
    for (let partition = 0; partition < (topic?.partitions ?? 0); partition++) {
      const wal = this.#extents(topic!.topic, partition).filter((extent) => extent.kind !== 'table')
      const taken = wal.slice(0, this.random.int(wal.length + 1))
      if (taken.length === 0) continue
      const { logStartOffset } = this.#state.partition(topic!.topic, partition)!
      const firstOffset = this.random.chance(0.5) ? taken[0].firstOffset : Math.max(taken[0].firstOffset, logStartOffset)
      const lastOffset = taken.at(-1)!.lastOffset
      converted.push({ partition, firstOffset, lastOffset })
      const split = this.random.chance(0.3) && firstOffset < lastOffset ? firstOffset + this.random.int(lastOffset - firstOffset) : -1
      const range = (first: number, last: number): FileRange => ({
        partition,
        firstOffset: first,
        lastOffset: last,
        rows: last - first + 1,
        maxTimestampMs: 5,
        originalBytes: (last - first + 1) * 20,
      })
      if (split >= 0) ranges.push(range(firstOffset, split), range(split + 1, lastOffset))
      else ranges.push(range(firstOffset, lastOffset))
    }
    const table = this.#state.table(topic?.topic ?? 0)
    // Rows scattered over two files (T10), or all in one.
    const added =
      ranges.length === 0 ? [] : this.random.chance(0.3) ? [this.#file(ranges, 0), this.#file(ranges, 0)] : [this.#file(ranges, 0)]
    return this.#commitTable(topic?.topic ?? 99, table?.version ?? 0, converted, added, [])
  }

  #merge(): Command {
    const topic = this.#topic()
    const table = this.#state.table(topic?.topic ?? 0)
    const files = [...(table?.files() ?? [])]
    const from = this.random.int(files.length + 1)
    const removed = files.slice(from, from + 1 + this.random.int(4))
    const byPartition = new Map<number, FileRange>()
    for (const { ranges } of removed) {
      for (const range of ranges) {
        const known = byPartition.get(range.partition)
        byPartition.set(range.partition, {
          ...range,
          firstOffset: Math.min(range.firstOffset, known?.firstOffset ?? Infinity),
          lastOffset: Math.max(range.lastOffset, known?.lastOffset ?? 0),
          rows: range.rows + (known?.rows ?? 0),
          originalBytes: range.originalBytes + (known?.originalBytes ?? 0),
        })
      }
    }
    const added = byPartition.size === 0 || this.random.chance(0.1) ? [] : [this.#file([...byPartition.values()], 1)]
    return this.#commitTable(
      topic?.topic ?? 99,
      table?.version ?? 0,
      [],
      added,
      removed.map((file) => file.id),
    )
  }

  #commitTable(
    topic: number,
    version: number,
    converted: { partition: number; firstOffset: number; lastOffset: number }[],
    added: AddedFile[],
    removed: number[],
  ): Command {
    return {
      kind: 'commitTable',
      topic,
      expectedVersion: this.random.chance(0.95) ? version : version + 1,
      metadataKey: `m${version + 1}`,
      publication: version + 1,
      snapshotId: this.random.int(1e9),
      converted,
      added,
      removed,
      obsolete: removed.length > 0 ? [{ key: this.#state.tableFile(removed[0])!.key, graceMs: 100 }] : [],
      dataTimeMs: this.random.int(1000),
    }
  }

  #move(): Command {
    const topic = this.#topic()
    const moves = []
    let at = 0
    for (let partition = 0; partition < (topic?.partitions ?? 0); partition++) {
      const wal = this.#extents(topic!.topic, partition).filter((extent) => extent.kind === 'wal')
      const extent = wal[this.random.int(wal.length + 1)]
      if (extent === undefined) continue
      moves.push({
        topic: topic!.topic,
        partition,
        firstOffset: extent.firstOffset,
        lastOffset: extent.lastOffset,
        fromObject: extent.object,
        to: 0,
        byteOffset: at,
      })
      at += extent.sizeBytes
    }
    const walSequence = this.#nextWalSequence()
    return { kind: 'moveExtents', objects: [{ key: `wal/0/1/${walSequence}.seg`, sizeBytes: at, walSequence }], moves }
  }

  #group(): Command {
    const { random } = this
    const groupId = `g${random.int(5)}`
    const { epoch } = this.#state.shard(shardOf(groupId))
    const shardEpoch = random.chance(0.9) ? epoch : epoch + 1
    const topic = this.#topic()?.topic ?? 99
    const kind = random.int(10)
    if (kind === 0) return { kind: 'deleteGroup', shardEpoch, groupId }
    const stored = [...this.#state.offsets(groupId)]
    if (kind === 1) return { kind: 'expireOffsets', shardEpoch, groupId, items: stored.slice(0, 2) }
    if (kind < 5) {
      const members = Array.from({ length: random.int(3) }, (_, i) => ({
        memberId: `m${i}`,
        instanceId: random.chance(0.5) ? null : `i${i}`,
        clientId: 'c',
        clientHost: '/127.0.0.1',
        rebalanceTimeoutMs: 1000,
        sessionTimeoutMs: 6000,
        protocols: [{ name: 'range', metadata: Buffer.from([1, i]) }],
        assignment: Buffer.alloc(i),
      }))
      const group = {
        groupId,
        protocolType: 'consumer',
        protocolName: null,
        generation: random.int(9),
        leader: members[0]?.memberId ?? null,
        members,
        stateTimeMs: 5,
      }
      return { kind: 'putGroup', shardEpoch, group }
    }
    const items = Array.from({ length: 1 + random.int(3) }, () => ({
      topic,
      partition: random.int(4),
      offset: random.int(100),
      leaderEpoch: -1,
      metadata: random.chance(0.5) ? '' : 'note',
      commitTimeMs: random.int(1000),
      expireTimeMs: -1,
    }))
    return { kind: 'commitOffsets', shardEpoch, groupId, items }
  }
}
