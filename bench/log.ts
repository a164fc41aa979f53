/**
 * The folder log alone, one entry in flight: `node bench/log.ts [--folder /tmp] [--seconds 2]`. Prints appends/s, MB/s and
 * latency for entries of 4 KiB, 64 KiB and 1 MiB (all but 200 bytes of the larger ones attached), with and without fsync,
 * with files made ahead and without; and beside each what the bare system calls give: a write and an fdatasync in turn.
 */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { FolderLog } from '../src/metadata/logs/folderLog.ts'
import { FolderStore } from '../src/storage/folder.ts'

const { values } = parseArgs({
  options: { folder: { type: 'string', default: os.tmpdir() }, seconds: { type: 'string', default: '2' } },
})

interface Series {
  readonly count: number
  readonly elapsedMs: number
  readonly latenciesMs: number[]
}

async function measure(step: (i: number) => Promise<void> | void): Promise<Series> {
  const latenciesMs: number[] = []
  const begin = performance.now()
  const end = begin + Number(values.seconds) * 1000
  let now = begin
  for (let i = 0; now < end; i++) {
    await step(i)
    const after = performance.now()
    latenciesMs.push(after - now)
    now = after
  }
  return { count: latenciesMs.length, elapsedMs: now - begin, latenciesMs: latenciesMs.toSorted((a, b) => a - b) }
}

function print(name: string, sizeBytes: number, { count, elapsedMs, latenciesMs }: Series): void {
  const perSecond = (count / elapsedMs) * 1000
  const quantile = (q: number): string => latenciesMs[Math.min(count - 1, Math.floor(count * q))].toFixed(3)
  const size = sizeBytes < 1 << 20 ? `${sizeBytes / 1024} KiB` : `${sizeBytes / (1 << 20)} MiB`
  console.log(
    `${name.padEnd(34)} ${size.padStart(7)}  ${perSecond.toFixed(0).padStart(7)}/s  ${((perSecond * sizeBytes) / 1e6).toFixed(0).padStart(5)} MB/s  ` +
      `p50 ${quantile(0.5)}  p99 ${quantile(0.99)}  max ${quantile(1)} ms`,
  )
}

async function log(sizeBytes: number, fsync: boolean, makeAhead: boolean): Promise<void> {
  const folder = fs.mkdtempSync(path.join(values.folder, 'frazil-bench-'))
  try {
    const store = new FolderStore({ path: folder, fsync })
    await store.open()
    const folderLog = new FolderLog({ store, podName: 'bench', makeAhead })
    await folderLog.open()
    const entry = randomBytes(Math.min(sizeBytes, 4096))
    const attachment = sizeBytes > 4096 ? [randomBytes(sizeBytes - 200)] : []
    const bytes = attachment.length > 0 ? entry.subarray(0, 200) : entry
    // The first entries find no file made ahead.
    for (let i = 1; i <= 10; i++) await folderLog.append(i, bytes, attachment)
    await new Promise((resolve) => setTimeout(resolve, 300))
    print(
      `log fsync=${fsync} ahead=${makeAhead}`,
      sizeBytes,
      await measure(async (i) => void (await folderLog.append(i + 11, bytes, attachment))),
    )
    await folderLog.close()
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function bare(sizeBytes: number): Promise<void> {
  const folder = fs.mkdtempSync(path.join(values.folder, 'frazil-bench-'))
  const fd = fs.openSync(path.join(folder, 'file'), 'w')
  try {
    const bytes = randomBytes(sizeBytes)
    const series = await measure(() => {
      fs.writeSync(fd, bytes)
      fs.fdatasyncSync(fd)
    })
    print('bare write, fdatasync', sizeBytes, series)
  } finally {
    fs.closeSync(fd)
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

for (const sizeBytes of [4096, 65_536, 1 << 20]) {
  await bare(sizeBytes)
  for (const fsync of [true, false]) for (const makeAhead of [true, false]) await log(sizeBytes, fsync, makeAhead)
}
