import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import { Assembler, PART_MIN_BYTES, sizeOf, type Job, type Piece } from '../../../src/storage/s3/assemble.ts'
import { FakeS3 } from '../../lib/fakeS3.ts'
import { s3Store } from './s3Home.ts'

const MIB = 1 << 20

describe('parts of an S3 upload', () => {
  it('are joined to the least size, whatever the caller sends in whatever order', () => {
    const random = seededRandom(5)
    for (let round = 0; round < 300; round++) {
      const pieces: Piece[] = Array.from({ length: 1 + Math.floor(random() * 8) }, (_, i) => {
        const sizeBytes = Math.floor(random() ** 3 * 12 * MIB)
        if (random() < 0.4 && sizeBytes >= PART_MIN_BYTES)
          return { kind: 'copy', key: `s${i}`, etag: 'e', start: 10, end: 10 + sizeBytes * (random() < 0.2 ? 300 : 1) }
        return { kind: 'bytes', buffers: [SHARED.subarray(0, sizeBytes)] }
      })
      const order = pieces.map((_, i) => i)
      if (random() < 0.5) order.sort(() => random() - 0.5)
      const assembler = new Assembler()
      const jobs: Job[] = order.flatMap((i) => assembler.add(i + 1, pieces[i]))
      const { jobs: rest, last } = assembler.finish()
      const all = [...jobs, ...rest]
      const sizes = all.map((job) => sizeOf({ kind: 'bytes', buffers: job.buffers }) + (job.range === null ? 0 : sizeOf(job.range)))
      for (const size of sizes) expect(size).toBeGreaterThanOrEqual(PART_MIN_BYTES)
      if (last !== null) sizes.push(sizeOf({ kind: 'bytes', buffers: last.buffers }))
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(pieces.reduce((sum, piece) => sum + sizeOf(piece), 0))
      // numbers follow the order of the bytes: ranges of one source are in order, and sources among each other
      const ranges = all.filter((job) => job.range !== null).sort((a, b) => a.number - b.number)
      for (const [i, job] of ranges.entries()) {
        const before = ranges[i - 1]?.range
        expect(job.range!.start).toBe(before?.key === job.range!.key ? before.end : 10)
      }
    }
  })

  it('that are far ahead of a gap are refused before memory is', () => {
    const assembler = new Assembler()
    const part = SHARED.subarray(0, 12 * MIB)
    expect(() => {
      for (let i = 2; i < 40; i++) assembler.add(i, { kind: 'bytes', buffers: [part] })
    }).toThrow(/far ahead/)
  })
})

const SHARED = Buffer.alloc(12 * MIB)

describe('a large upload to S3', () => {
  let fake: FakeS3
  beforeAll(async () => void (fake = await FakeS3.start('bucket')))
  afterAll(() => fake.stop())

  it('joins small parts, large parts and copies, by the rules of S3', async () => {
    const store = s3Store(fake)
    const random = seededRandom(3)
    const source = Buffer.from(Uint8Array.from({ length: 14 * MIB }, () => random() * 256))
    await store.put('source', source)
    const wanted: Buffer[] = []
    const upload = await store.multipart('joined')
    let part = 1
    const put = async (start: number, end: number): Promise<void> => {
      wanted.push(source.subarray(start, end))
      await upload.putPart(part++, [source.subarray(start, start + 5), source.subarray(start + 5, end)])
    }
    const copy = async (start: number, end: number): Promise<void> => {
      wanted.push(source.subarray(start, end))
      await upload.copyPart(part++, 'source', { start, end })
    }
    await put(0, 100)
    await copy(50, 13 * MIB)
    await put(3, 8 * MIB)
    await put(1000, 2000)
    await copy(7, 6 * MIB)
    await copy(1, 9 * MIB)
    await put(0, 10)
    const info = await upload.complete({ ifAbsent: true })
    const { body } = await store.get('joined')
    expect(body.equals(Buffer.concat(wanted))).toBe(true)
    expect(info).toEqual(await store.head('joined'))
    expect(fake.requests.some(({ headers }) => headers['x-amz-copy-source'] !== undefined)).toBe(true)
  })

  it('refuses to end while a part has failed, and takes it when it is sent again', async () => {
    const store = s3Store(fake, { tries: 1 })
    const upload = await store.multipart('again')
    await upload.putPart(1, SHARED)
    fake.faults = ({ query }) => (query.has('partNumber') ? { status: 500 } : null)
    await expect(upload.putPart(2, SHARED)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    fake.faults = null
    await expect(upload.complete()).rejects.toMatchObject({ code: 'REFUSED' })
    await upload.putPart(2, SHARED)
    expect(await upload.complete()).toMatchObject({ sizeBytes: 24 * MIB })
  })
})
