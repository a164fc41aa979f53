// What both Node clients share: the command line, the records file, the digest (see test/compat/README.md).
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

export const action = process.argv[2]
export const options = parseArgs({
  args: process.argv.slice(3),
  options: Object.fromEntries(
    ['bootstrap', 'topic', 'records', 'codec', 'acks', 'group', 'counts', 'start', 'timestamp', 'partition']
      .map((name) => [name, { type: 'string' }])
      .concat([['idempotent', { type: 'boolean' }]]),
  ),
}).values

const raw = (text) => (text === null ? null : Buffer.from(text, 'base64'))

export function records() {
  return readFileSync(options.records, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const row = JSON.parse(line)
      return {
        partition: row.p,
        key: raw(row.k),
        value: raw(row.v),
        headers: row.h.map(([key, value]) => [key, raw(value)]),
        timestamp: row.t,
      }
    })
}

export const numbers = (text) => (text ? text.split(',').map(Number) : [])

export class Digest {
  constructor(partitions) {
    this.sums = Array.from({ length: partitions }, () => createHash('sha256'))
    this.counts = Array.from({ length: partitions }, () => 0)
  }

  add(partition, offset, timestamp, key, value, headers) {
    const sum = this.sums[partition]
    const head = Buffer.alloc(16)
    head.writeBigInt64BE(BigInt(offset), 0)
    head.writeBigInt64BE(BigInt(timestamp), 8)
    sum.update(head)
    this.#blob(sum, key)
    this.#blob(sum, value)
    this.#int(sum, headers.length)
    for (const [name, content] of headers) {
      this.#blob(sum, Buffer.from(name))
      this.#blob(sum, content)
    }
    this.counts[partition]++
  }

  #int(sum, value) {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(value)
    sum.update(bytes)
  }

  #blob(sum, value) {
    this.#int(sum, value === null || value === undefined ? -1 : value.length)
    if (value !== null && value !== undefined) sum.update(value)
  }

  get total() {
    return this.counts.reduce((a, b) => a + b, 0)
  }

  show() {
    this.sums.forEach((sum, partition) => console.log(partition, this.counts[partition], sum.digest('hex')))
  }
}
