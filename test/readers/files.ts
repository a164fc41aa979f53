// Foreign readers against single table files (hazards I4, I13 to I16): every encoding, page and level that our writer makes.
// usage: node test/readers/files.ts [--python PATH]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { mergeRowFiles } from '../../src/tables/parquet/merge.ts'
import { crcOfRow } from '../../src/tables/row/crc.ts'
import { encodeFile, type TestPartition } from '../unit/tables/files.ts'
import { widened } from '../unit/tables/readback/wide.ts'
import { generator, mixedRows, plain, type TestRow } from '../unit/tables/records.ts'

const here = dirname(fileURLToPath(import.meta.url))
const { values: flags } = parseArgs({ options: { python: { type: 'string' } } })
const python = flags.python ?? environment()

function environment(): string {
  const script = `set -euo pipefail; source "${here}/../compat/lib/env.sh"; source "${here}/lib/engines.sh"; python_env readers "${here}/python/requirements.txt"`
  return execFileSync('bash', ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], timeout: 600_000 }).trim()
}

const random = generator(16)
const incompressible = Array.from({ length: 3000 }, (_, offset): TestRow => {
  const value = random.bytes(200)
  value[0] = 0xff
  return { offset, timestampMs: offset, timestampType: 0, key: null, value, headers: [] }
})
const mixed: TestPartition[] = [0, 1, 9].map((partition) => ({ partition, rows: mixedRows(3000, partition + 1, partition * 2 ** 34) }))
const noHeaders = mixed.map(({ partition, rows }) => ({
  partition,
  rows: rows.map((row) => Object.assign({}, row, { headers: [], key: null })),
}))

const merged: Uint8Array[] = []
const halves = [0, 1].map(
  (half) =>
    encodeFile(
      mixed.map(({ partition, rows }) => ({ partition, rows: rows.filter((_row, i) => i % 2 === half) })),
      { pageRows: 300 },
    ).bytes,
)
await mergeRowFiles(
  halves.map((bytes) => ({ sizeBytes: bytes.length, read: async (start: number, end: number) => bytes.subarray(start, end) })),
  (bytes) => void merged.push(bytes),
)
const files: Record<string, { bytes: Buffer; partitions: readonly TestPartition[] }> = {
  empty: { bytes: encodeFile([]).bytes, partitions: [] },
  one: { bytes: encodeFile([{ partition: 0, rows: mixedRows(1, 3) }]).bytes, partitions: [{ partition: 0, rows: mixedRows(1, 3) }] },
  mixed: { bytes: encodeFile(mixed, { rowGroupRows: 2000, pageRows: 150 }).bytes, partitions: mixed },
  merged: { bytes: Buffer.concat(merged), partitions: mixed },
  nulls: { bytes: encodeFile(noHeaders, { pageRows: 150 }).bytes, partitions: noHeaders },
  incompressible: {
    bytes: encodeFile([{ partition: 0, rows: incompressible }]).bytes,
    partitions: [{ partition: 0, rows: incompressible }],
  },
  wide: { bytes: widened(encodeFile(mixed, { rowGroupRows: 2000 }).bytes, 289), partitions: mixed },
}

const folder = mkdtempSync(join(tmpdir(), 'frazil-files-'))
try {
  for (const [name, { bytes, partitions }] of Object.entries(files)) {
    writeFileSync(join(folder, `${name}.parquet`), bytes)
    const lines = partitions.flatMap(({ partition, rows }) =>
      plain(rows).map((row, i) => JSON.stringify({ partition, crc: crcOfRow({ partition, ...rows[i] }), ...(row as object) })),
    )
    writeFileSync(join(folder, `${name}.jsonl`), lines.join('\n'))
  }
  const output = execFileSync(python, [join(here, 'python', 'read_files.py'), folder], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 300_000,
  })
  process.stdout.write(output)
} finally {
  rmSync(folder, { recursive: true })
}
