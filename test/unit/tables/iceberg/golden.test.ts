// The bytes of docs/FORMATS.md, "Table metadata": what was written once must be read for ever. The files in test/fixtures/
// tables/iceberg are what the first version wrote; UPDATE_GOLDEN=1 writes them where there are none yet.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readContainer } from '../../../../src/tables/iceberg/container.ts'
import { avroType } from '../../../../src/tables/iceberg/avroTypes.ts'
import { decodeManifest } from '../../../../src/tables/iceberg/manifest.ts'
import { decodeManifestList } from '../../../../src/tables/iceberg/manifestList.ts'
import { parseMetadata } from '../../../../src/tables/iceberg/table.ts'
import { CREATED_MS, file, keyOf, Sketch } from './lib.ts'

const folder = join(dirname(fileURLToPath(import.meta.url)), '../../../fixtures/tables/iceberg')
const uuid = (n: number): string => `0${n}a1b2c3-d4e5-4f60-8718-293a4b5c6d7e`

async function publications(): Promise<Sketch> {
  const table = new Sketch()
  await table.publish({}, { uuid: uuid(1) })
  await table.publish(
    {
      operation: 'append',
      added: [file('a'), file('b', 5, 1)],
      offsets: [{ partition: 0, firstOffset: 0, lastOffset: 9 }],
      dataTimeMs: CREATED_MS + 400,
    },
    { uuid: uuid(2) },
  )
  await table.publish(
    {
      operation: 'replace',
      added: [{ ...file('ab', 15), level: 1 }],
      removedKeys: [file('a').key, file('b').key],
      dataTimeMs: CREATED_MS + 400,
    },
    { uuid: uuid(3) },
  )
  return table
}

const golden = (name: string, bytes: Buffer): Buffer => {
  const path = join(folder, name)
  if (!existsSync(path) && process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(folder, { recursive: true })
    writeFileSync(path, bytes)
  }
  return readFileSync(path)
}

/** Blocks are compressed, and another zlib may give other bytes for the same rows: of Avro files, header and rows count. */
async function content(name: string, bytes: Buffer): Promise<unknown> {
  if (!name.endsWith('.avro')) return bytes.toString()
  const { header, items } = await readContainer(bytes, avroType, (row) => row)
  return { header: [...header], items }
}

describe('table metadata on disk', () => {
  it('is written as it was', async () => {
    const table = await publications()
    expect(table.objects.size).toBe(11)
    for (const [key, bytes] of table.objects) {
      const name = key.split('/').slice(-1)[0]!
      expect([name, await content(name, bytes)]).toEqual([name, await content(name, golden(name, bytes))])
    }
  })

  it('is read as it was written', async () => {
    const stem = `00003-${uuid(3)}`
    const metadata = parseMetadata(readFileSync(join(folder, `${stem}.metadata.json`), 'utf8'))
    expect(metadata.snapshots.map((one) => one.summary['operation'])).toEqual(['append', 'append', 'replace'])
    const lines = await decodeManifestList(readFileSync(join(folder, `snap-${stem}.avro`)))
    expect(lines.map((line) => keyOf(line.path)!.split('/').at(-1))).toEqual([`${stem}-m0.avro`])
    const entries = await decodeManifest(readFileSync(join(folder, `${stem}-m0.avro`)), lines[0]!, metadata)
    expect(
      entries.map((entry) => [entry.status, entry.file.path.split('/').at(-1), entry.level, entry.sequenceNumber, entry.ranges]),
    ).toEqual([
      [1, 'ab.parquet', 1, 3, [[0, 0, 14, 15, CREATED_MS + 15, 1350]]],
      [2, 'a.parquet', 0, 2, [[0, 0, 9, 10, CREATED_MS + 10, 900]]],
      [2, 'b.parquet', 0, 2, [[1, 0, 4, 5, CREATED_MS + 5, 450]]],
    ])
  })
})
