import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import { compareKeys } from '../../../src/storage/keys.ts'
import type { ObjectInfo, ObjectStore } from '../../../src/storage/store.ts'

/**
 * What every store must do; `make` gives a fresh, empty one. `contentEtags`: equal bytes may give equal etags.
 */
export function storeSuite(name: string, make: () => Promise<ObjectStore>, traits: { readonly contentEtags?: boolean } = {}): void {
  describe(`${name}: objects`, () => {
    it('gives back what was put, in one buffer or several', async () => {
      const store = await make()
      const one = await store.put('a/one', text('hello'))
      expect(one).toMatchObject({ key: 'a/one', sizeBytes: 5 })
      await store.put('a/many', [text('he'), text(''), text('llo'), text(' world')])
      expect(await store.get('a/one')).toMatchObject({ ...one, body: text('hello') })
      expect((await store.get('a/many')).body.toString()).toBe('hello world')
      await store.put('empty', [])
      expect((await store.get('empty')).sizeBytes).toBe(0)
      expect(await store.head('a/one')).toEqual(one)
      expect(await store.head('a/none')).toBeNull()
      await expect(store.get('a/none')).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
    })

    it('writes thousands of small buffers, and big ones, in order', async () => {
      const store = await make()
      for (const [count, size] of [
        [5000, 3],
        [1500, 5000],
        [3, 1_000_003],
      ]) {
        const parts = Array.from({ length: count }, (_, i) => Buffer.alloc(size, i % 251))
        await store.put('many', parts)
        expect((await store.get('many')).body.equals(Buffer.concat(parts))).toBe(true)
      }
    })

    it('hands out buffers that belong to the caller', async () => {
      const store = await make()
      const mine = Buffer.from('abc')
      await store.put('k', mine)
      mine.fill(0)
      const first = (await store.get('k')).body
      expect(first.toString()).toBe('abc')
      expect(first.buffer.byteLength).toBe(3)
      first.fill(0)
      expect((await store.get('k')).body.toString()).toBe('abc')
    })

    it('changes the etag with every write', async () => {
      const store = await make()
      const etags = new Set<string>()
      for (let i = 0; i < 50; i++) etags.add((await store.put('k', text(traits.contentEtags === true ? `${i}` : 'same'))).etag)
      expect(etags.size).toBe(50)
    })

    it('refuses keys that are no plain relative paths', async () => {
      const store = await make()
      const bad = [
        '',
        '/a',
        'a/',
        'a//b',
        '.',
        '..',
        'a/../b',
        'a/./b',
        'a\u0000b',
        'a\nb',
        'a\u007f',
        'x'.repeat(256),
        'ä'.repeat(128),
        'a\ud800',
      ]
      bad.push(`${'abcdefghi/'.repeat(103)}x`, '.tmp/x', 'meta/lock.db')
      for (const key of bad) {
        await expect(store.put(key, text('x'))).rejects.toMatchObject({ code: 'REFUSED' })
        await expect(store.get(key)).rejects.toMatchObject({ code: 'REFUSED' })
      }
      for (const key of ['x'.repeat(255), 'ü/ß €', '😀/a', '...', '.hidden', 'a:b*c?"d', 'a\\b']) {
        await store.put(key, text(key))
        expect((await store.get(key)).body.toString()).toBe(key)
        expect(store.keyOf(store.uri(key))).toBe(key)
      }
    })

    it('deletes, and says nothing of keys that are absent', async () => {
      const store = await make()
      await store.put('d/1', text('1'))
      await store.put('d/e/2', text('2'))
      expect(await store.delete(['d/1', 'd/none', 'none/none', 'd/e/2'])).toEqual([])
      expect(await keys(store, '')).toEqual([])
      await store.put('d/e/2', text('again'))
      expect(await keys(store, '')).toEqual(['d/e/2'])
      const failed = await store.delete(['../x', 'd/e/2'])
      expect(failed).toMatchObject([{ key: '../x', error: { code: 'REFUSED' } }])
      expect(await keys(store, '')).toEqual([])
    })

    it('refuses everything once closed', async () => {
      const store = await make()
      await store.put('k', text('x'))
      await store.close()
      await expect(store.put('k', text('y'))).rejects.toMatchObject({ code: 'CLOSED' })
      await expect(store.get('k')).rejects.toMatchObject({ code: 'CLOSED' })
      await expect(keys(store, '')).rejects.toMatchObject({ code: 'CLOSED' })
      await expect(store.delete(['k'])).rejects.toMatchObject({ code: 'CLOSED' })
    })
  })

  describe(`${name}: ranges`, () => {
    it('agrees with slices of the whole for any range', async () => {
      const store = await make()
      const random = seededRandom(1)
      const whole = Buffer.from(Array.from({ length: 1000 }, () => Math.floor(random() * 256)))
      await store.put('r', whole)
      for (let i = 0; i < 200; i++) {
        const start = Math.floor(random() * 1100)
        const end = start + Math.floor(random() * 300)
        const got = await store.getRange('r', { start, end })
        expect(got.body.equals(whole.subarray(start, end))).toBe(true)
        expect(got.sizeBytes).toBe(1000)
        const suffix = 1 + Math.floor(random() * 1200)
        expect((await store.getRange('r', { start: -suffix })).body.equals(whole.subarray(-suffix))).toBe(true)
      }
      expect((await store.getRange('r', { start: 990 })).body.equals(whole.subarray(990))).toBe(true)
      expect((await store.getRange('r', { start: 5000 })).body.length).toBe(0)
      for (const range of [{ start: 5, end: 4 }, { start: -5, end: 5 }, { start: 0.5 }, { start: NaN }]) {
        await expect(store.getRange('r', range)).rejects.toMatchObject({ code: 'REFUSED' })
      }
      await expect(store.getRange('none', { start: 0, end: 1 })).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
    })
  })

  describe(`${name}: conditions`, () => {
    it('lets one of many creators win', async () => {
      const store = await make()
      for (let round = 0; round < 10; round++) {
        const key = `race/${round}`
        const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => store.putIfAbsent(key, text(`writer ${i}`))))
        const winners = answers.flatMap((answer, i) => (answer === null ? [] : [i]))
        expect(winners).toHaveLength(1)
        expect((await store.get(key)).body.toString()).toBe(`writer ${winners[0]}`)
        expect(await store.head(key)).toEqual(answers[winners[0]])
      }
    })

    it('counts right when many increment by compare and swap', async () => {
      const store = await make()
      await store.put('counter', text('0'))
      const increment = async (): Promise<void> => {
        for (;;) {
          const { body, etag } = await store.get('counter')
          if ((await store.putIfMatch('counter', text(String(Number(body.toString()) + 1)), etag)) !== null) return
        }
      }
      await Promise.all(Array.from({ length: 15 }, increment))
      expect((await store.get('counter')).body.toString()).toBe('15')
    })

    it('replaces only the version named', async () => {
      const store = await make()
      const first = await store.put('k', text('1'))
      const second = await store.put('k', text('2'))
      expect(await store.putIfMatch('k', text('3'), first.etag)).toBeNull()
      expect(await store.putIfMatch('none', text('3'), first.etag)).toBeNull()
      expect(await store.head('none')).toBeNull()
      expect(await store.putIfMatch('k', text('3'), second.etag)).not.toBeNull()
      expect((await store.get('k')).body.toString()).toBe('3')
      await store.delete(['k'])
      expect(await store.putIfMatch('k', text('4'), second.etag)).toBeNull()
      expect(await store.putIfAbsent('k', text('5'))).not.toBeNull()
    })
  })

  describe(`${name}: list`, () => {
    it('is ordered by UTF-8 bytes, with prefix and start', async () => {
      const store = await make()
      const all = [
        'a',
        'a-b',
        'a/b.c',
        'a0',
        'ab/c',
        'ab/c0',
        'b/1/2/3',
        'b/1/2-',
        'b/1/20',
        'b/10/1',
        'z/\u{ff5e}',
        'z/😀',
        'z/é',
        'Z',
        'meta/x',
      ]
        .filter((key) => key !== 'a') // on a folder 'a' cannot be an object beside 'a/b.c'
        .concat(['.tmpx', 'b/1/2/30'])
      for (const key of [...all].toReversed()) await store.put(key, text(key))
      const sorted = all.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      expect(all.toSorted(compareKeys)).toEqual(sorted)
      expect(await keys(store, '')).toEqual(sorted)
      for (const prefix of ['a', 'a/', 'ab/c', 'b', 'b/1', 'b/1/', 'b/1/2', 'b/1/2/3', 'z/', 'no', 'no/no', 'a-b']) {
        const matching = sorted.filter((key) => key.startsWith(prefix))
        expect(await keys(store, prefix)).toEqual(matching)
        for (const startAfter of [...sorted, 'a/', 'b/1/2/', 'b/1/2/x', 'zz', '']) {
          const rest = matching.filter((key) => compareKeys(key, startAfter) > 0)
          expect(await keys(store, prefix, startAfter)).toEqual(rest)
        }
      }
    })

    it('tells size and etag of each', async () => {
      const store = await make()
      const info = await store.put('x/y', text('12345'))
      const listed: ObjectInfo[] = []
      for await (const object of store.list('x')) listed.push(object)
      expect(listed).toEqual([info])
    })

    it('goes through many keys while others come and go', async () => {
      const store = await make()
      const wanted = Array.from({ length: 300 }, (_, i) => `p/${i % 7}/${String(i).padStart(4, '0')}`)
      await Promise.all(wanted.map((key) => store.put(key, text(key))))
      await store.put('p/3/0000-goes', text(''))
      const seen: string[] = []
      for await (const { key } of store.list('p/')) {
        if (seen.push(key) === 1) {
          await store.delete(['p/3/0000-goes'])
          await store.put('q/new', text(''))
        }
      }
      expect(seen.filter((key) => key !== 'p/3/0000-goes')).toEqual(wanted.toSorted(compareKeys))
    })
  })

  describe(`${name}: uploads in parts`, () => {
    it('joins parts sent in any order, copies among them', async () => {
      const store = await make()
      const source = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 7) % 253))
      await store.put('source', source)
      const a = Buffer.alloc(70_000, 1)
      const c = [Buffer.alloc(10, 3), Buffer.alloc(20, 4)]
      const wanted = Buffer.concat([a, source.subarray(5, 2_500_000), ...c, source.subarray(-100)])
      const steps = [
        (u: Upload) => u.putPart(1, a),
        (u: Upload) => u.copyPart(2, 'source', { start: 5, end: 2_500_000 }),
        (u: Upload) => u.putPart(3, c),
        (u: Upload) => u.copyPart(7, 'source', { start: -100 }),
      ]
      const orders = [
        [0, 1, 2, 3],
        [3, 2, 1, 0],
        [2, 0, 3, 1],
        [1, 0, 3, 2],
      ]
      for (const [i, order] of orders.entries()) {
        const upload = await store.multipart(`joined/${i}`)
        for (const step of order) await steps[step](upload)
        expect(await store.head(`joined/${i}`)).toBeNull()
        expect(await upload.complete()).toMatchObject({ key: `joined/${i}`, sizeBytes: wanted.length })
        expect((await store.get(`joined/${i}`)).body.equals(wanted)).toBe(true)
      }
      const upload = await store.multipart('joined/at-once')
      await Promise.all(steps.toReversed().map((step) => step(upload)))
      await upload.complete()
      expect((await store.get('joined/at-once')).body.equals(wanted)).toBe(true)
      expect(await keys(store, '')).toHaveLength(6)
    })

    it('takes the last of a part that is sent twice', async () => {
      const store = await make()
      const upload = await store.multipart('k')
      await upload.putPart(2, text('bad'))
      await upload.putPart(1, text('bad'))
      await upload.putPart(1, text('one'))
      await upload.putPart(2, text('two'))
      await upload.complete()
      expect((await store.get('k')).body.toString()).toBe('onetwo')
    })

    it('creates only where nothing is, when asked to', async () => {
      const store = await make()
      const finish = async (body: string): Promise<ObjectInfo | null> => {
        const upload = await store.multipart('k')
        await upload.putPart(1, text(body))
        return upload.complete({ ifAbsent: true })
      }
      const answers = await Promise.all(['a', 'b', 'c', 'd'].map(finish))
      expect(answers.filter((answer) => answer !== null)).toHaveLength(1)
      const upload = await store.multipart('k')
      await upload.putPart(1, text('replaced'))
      expect(await upload.complete()).not.toBeNull()
      expect((await store.get('k')).body.toString()).toBe('replaced')
    })

    it('leaves nothing behind when given up', async () => {
      const store = await make()
      const upload = await store.multipart('k')
      const running = upload.putPart(1, Buffer.alloc(1_000_000))
      await upload.putPart(3, text('x'))
      await upload.abort()
      await running
      await upload.abort()
      expect(await keys(store, '')).toEqual([])
      await expect(upload.putPart(2, text('x'))).rejects.toMatchObject({ code: 'REFUSED' })
      await expect(upload.complete()).rejects.toMatchObject({ code: 'REFUSED' })
    })

    it('refuses bad parts and absent sources', async () => {
      const store = await make()
      const upload = await store.multipart('k')
      for (const part of [0, -1, 1.5, 10_001]) await expect(upload.putPart(part, text('x'))).rejects.toMatchObject({ code: 'REFUSED' })
      await expect(upload.copyPart(1, 'none', { start: 0 })).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
      await upload.putPart(1, text('x'))
      await upload.complete()
      expect((await store.get('k')).body.toString()).toBe('x')
    })
  })

  describe(`${name}: whole or nothing`, () => {
    it('never shows a reader a half of an object that is replaced', async () => {
      const store = await make()
      await store.put('k', Buffer.alloc(300_000, 0))
      const state = { writing: true }
      const write = async (): Promise<void> => {
        for (let i = 1; i <= 40; i++) await store.put('k', Buffer.alloc(i % 2 === 0 ? 300_000 : 200_000, i))
        state.writing = false
      }
      const read = async (): Promise<void> => {
        do {
          const { body, sizeBytes } = await store.get('k')
          expect(body.length).toBe(sizeBytes)
          expect(body.every((byte) => byte === body[0])).toBe(true)
          expect(body.length).toBe(body[0] % 2 === 0 ? 300_000 : 200_000)
        } while (state.writing)
      }
      await Promise.all([write(), read(), read()])
    })

    it('keeps writers and deleters of one folder out of each other’s way', async () => {
      const store = await make()
      const work = async (id: number): Promise<void> => {
        for (let i = 0; i < 20; i++) {
          await store.put(`shared/deep/er/${id}`, text(`${id} ${i}`))
          expect((await store.get(`shared/deep/er/${id}`)).body.toString()).toBe(`${id} ${i}`)
          expect(await store.delete([`shared/deep/er/${id}`])).toEqual([])
        }
      }
      await Promise.all([1, 2, 3, 4].map(work))
      expect(await keys(store, '')).toEqual([])
    })
  })
}

type Upload = Awaited<ReturnType<ObjectStore['multipart']>>

export function text(content: string): Buffer {
  return Buffer.from(content)
}

export async function keys(store: ObjectStore, prefix: string, startAfter?: string): Promise<string[]> {
  const found: string[] = []
  for await (const { key } of store.list(prefix, { startAfter })) found.push(key)
  return found
}
