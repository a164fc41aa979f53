export interface Transaction {
  readonly id: string
  /** What is certain of it. */
  state: 'open' | 'unknown' | 'committed' | 'aborted'
}

/** One batch as its producer knows it. */
export interface SentBatch {
  readonly producer: number
  readonly partition: number
  /** Values are `<producer>/<first>` … `<producer>/<first + count - 1>`. */
  readonly first: number
  readonly count: number
  /** Every record acknowledged before this batch was first sent lies below. */
  readonly aboveOffset: number
  /** Its producer's batches keep their order. */
  readonly ordered: boolean
  readonly transaction: Transaction | null
  /** What is certain of it; `open` may or may not have happened. */
  state: 'open' | 'acked'
  /** Of an acknowledged batch. */
  baseOffset: number
}

export interface Violation {
  /** As Jepsen's Kafka workload names them. */
  readonly kind:
    | 'lost'
    | 'duplicated'
    | 'reordered'
    | 'diverged'
    | 'phantom'
    | 'skipped'
    | 'stale'
    | 'aborted'
    | 'unseen'
    | 'table'
    | 'state'
    | 'error'
    | 'stuck'
  readonly what: string
}

export class PartitionHistory {
  readonly partition: number
  /** The value that was seen, or acknowledged, at each offset. */
  readonly values = new Map<number, string>()
  readonly offsets = new Map<string, number>()
  /** Offsets that were passed over by a reader: markers, or records of aborted transactions that are in the table by now. */
  readonly holes = new Map<number, string>()
  /** Offsets of control records that were seen. */
  readonly markers = new Set<number>()
  /** End of the highest acknowledged batch. */
  ackedEnd = 0
  /** Highest log start that a trim may have set, and the highest it has certainly set. */
  trimAsked = 0
  trimmed = 0
  constructor(partition: number) {
    this.partition = partition
  }
}

/** What clients did and saw; wrongs are noted as they show. */
export class History {
  readonly partitions: readonly PartitionHistory[]
  readonly batches: SentBatch[] = []
  readonly violations: Violation[] = []
  readonly #byValue = new Map<string, SentBatch>()
  records = 0
  transactions = 0
  reads = 0

  constructor(partitions: number) {
    this.partitions = Array.from({ length: partitions }, (_, i) => new PartitionHistory(i))
  }

  wrong(kind: Violation['kind'], what: string): void {
    if (this.violations.length < 50) this.violations.push({ kind, what })
  }

  sent(
    producer: number,
    partition: number,
    first: number,
    count: number,
    ordered: boolean,
    transaction: Transaction | null = null,
  ): SentBatch {
    const { ackedEnd } = this.partitions[partition]
    const batch: SentBatch = {
      producer,
      partition,
      first,
      count,
      aboveOffset: ackedEnd,
      ordered,
      transaction,
      state: 'open',
      baseOffset: -1,
    }
    this.batches.push(batch)
    for (let n = first; n < first + count; n++) this.#byValue.set(`${producer}/${n}`, batch)
    this.records += count
    return batch
  }

  acked(batch: SentBatch, baseOffset: number): void {
    const { partition, first, count, producer } = batch
    if (batch.state === 'acked') {
      if (batch.baseOffset !== baseOffset)
        this.wrong('duplicated', `${producer}/${first} was acknowledged at ${batch.baseOffset} and at ${baseOffset}`)
      return
    }
    batch.state = 'acked'
    batch.baseOffset = baseOffset
    for (let i = 0; i < count; i++) this.#at(partition, baseOffset + i, `${producer}/${first + i}`, 'acknowledged')
    const history = this.partitions[partition]
    history.ackedEnd = Math.max(history.ackedEnd, baseOffset + count)
  }

  /** A consumer, or the last judge, read a value. */
  seen(partition: number, offset: number, value: string, by: string): void {
    this.reads++
    this.#at(partition, offset, value, by)
  }

  /** A reader went from one offset to another without a record: those between must be markers, or of aborted transactions. */
  passed(partition: number, from: number, to: number, by: string): void {
    const known = this.partitions[partition]
    for (let offset = Math.max(from, known.trimAsked); offset < to; offset++) {
      if (this.transactions === 0) this.wrong('skipped', `offset ${offset} of partition ${partition} was passed over (${by})`)
      else known.holes.set(offset, by)
    }
  }

  /** True when nothing at this offset may ever have been there to read. */
  mayBeHole(partition: number, offset: number): boolean {
    if (this.transactions === 0) return false
    const value = this.partitions[partition].values.get(offset)
    const transaction = value === undefined ? null : this.#byValue.get(value)!.transaction
    return value === undefined || (transaction !== null && transaction.state !== 'committed')
  }

  /** The batch that a value belongs to. */
  batchOf(value: string): SentBatch | undefined {
    return this.#byValue.get(value)
  }

  #at(partition: number, offset: number, value: string, by: string): void {
    const history = this.partitions[partition]
    const known = history.values.get(offset)
    if (known === value) return
    const at = `partition ${partition} offset ${offset}`
    if (known !== undefined) return this.wrong('diverged', `${at} is ${known}, and ${value} (${by})`)
    const batch = this.#byValue.get(value)
    if (batch === undefined || batch.partition !== partition)
      return this.wrong('phantom', `${at} is ${value}, which nobody sent there (${by})`)
    const before = history.offsets.get(value)
    if (before !== undefined)
      return this.wrong('duplicated', `${value} is at offsets ${before} and ${offset} of partition ${partition} (${by})`)
    if (offset < batch.aboveOffset)
      this.wrong('reordered', `${at} is ${value}, sent after everything below ${batch.aboveOffset} was acknowledged (${by})`)
    history.values.set(offset, value)
    history.offsets.set(value, offset)
  }
}
