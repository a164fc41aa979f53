import fs from 'node:fs'
import { FrazilError } from '../base/errors.ts'
import { storeFailure } from './failures.ts'
import { BACKGROUND_CALL_BYTES, bodyBuffers, readInto, writeAll, type Files } from './files.ts'
import { resolveRange } from './keys.ts'
import type { Body, ByteRange, MultipartUpload, ObjectInfo } from './store.ts'
import type { TempFile, TempFiles } from './tempFiles.ts'

const STEP_BYTES = 1 << 20
const PART_MAX = 10_000 // what S3 allows

interface Part {
  readonly file: TempFile
  readonly offset: number
  readonly sizeBytes: number
  whole: boolean
}

/** What an upload needs of its store. */
export interface UploadHost {
  readonly files: Files
  readonly temps: TempFiles
  readonly count: (kind: 'put' | 'copy') => void
  readonly check: () => void
  readonly pathOf: (key: string) => string
  readonly publish: (temp: TempFile, mode: 'replace' | 'ifAbsent') => Promise<ObjectInfo | null>
  readonly discard: (temp: TempFile) => Promise<void>
}

/**
 * An upload to a folder. A part whose place is known when it is begun (all before it were) is written straight into the
 * file to be; any other waits in a file of its own and is moved in by `complete`.
 */
export class FolderUpload implements MultipartUpload {
  readonly #host: UploadHost
  readonly #parts = new Map<number, Part>()
  readonly #loose = new Map<number, Part>()
  #main: Promise<TempFile> | null = null
  #nextPart = 1
  #nextOffset = 0
  readonly #running = new Set<Promise<void>>()
  #done = false

  constructor(host: UploadHost) {
    this.#host = host
  }

  putPart(part: number, body: Body): Promise<void> {
    const { buffers, sizeBytes } = bodyBuffers(body)
    this.#host.count('put')
    return this.#run(part, () =>
      this.#fill(
        part,
        sizeBytes,
        async (fd, offset) => void (await writeAll(this.#host.files, fd, buffers, offset, BACKGROUND_CALL_BYTES)),
      ),
    )
  }

  copyPart(part: number, sourceKey: string, range: ByteRange): Promise<void> {
    this.#host.count('copy')
    return this.#run(part, async () => {
      const { files } = this.#host
      const from = await files.open(this.#host.pathOf(sourceKey), fs.constants.O_RDONLY).catch((error: unknown) => {
        throw storeFailure(error, `cannot copy ${sourceKey}`, 'read')
      })
      try {
        const { start, end } = resolveRange(range, Number((await files.statOpen(from)).size))
        await this.#fill(part, end - start, (fd, offset) => copy(files, from, start, fd, offset, end - start))
      } finally {
        await files.close(from)
      }
    })
  }

  async #run(part: number, task: () => Promise<void>): Promise<void> {
    this.#host.check()
    if (this.#done) throw new FrazilError('REFUSED', 'the upload has ended')
    if (!Number.isInteger(part) || part < 1 || part > PART_MAX)
      throw new FrazilError('REFUSED', `part ${part} is not within 1 and ${PART_MAX}`)
    const running = task()
    this.#running.add(running)
    try {
      await running
    } catch (error) {
      throw storeFailure(error, `cannot write part ${part}`, 'write')
    } finally {
      this.#running.delete(running)
    }
  }

  /** The file that becomes the object; made on first use, again after a failure to make it. */
  #mainFile(): Promise<TempFile> {
    this.#main ??= this.#host.temps.create(this.#host.files).catch((error: unknown) => {
      this.#main = null
      throw error
    })
    return this.#main
  }

  /** Finds the place of a part, then lets `write` fill it. A part that is sent again takes the place of the earlier one. */
  async #fill(part: number, sizeBytes: number, write: (fd: number, offset: number) => Promise<void>): Promise<void> {
    const main = part <= this.#nextPart ? await this.#mainFile() : null
    let placed = this.#parts.get(part)
    if (placed !== undefined && placed.sizeBytes !== sizeBytes) {
      throw new FrazilError('REFUSED', `part ${part} was sent before with another size`)
    }
    if (placed === undefined && main !== null && part === this.#nextPart) {
      const offset = this.#nextOffset
      this.#nextPart++
      this.#nextOffset += sizeBytes
      placed = { file: main, offset, sizeBytes, whole: false }
      this.#parts.set(part, placed)
    }
    if (placed !== undefined) {
      placed.whole = false
      await write(placed.file.fd, placed.offset)
      placed.whole = true
      await this.#dropLoose(part)
      return
    }
    const file = await this.#host.temps.create(this.#host.files)
    try {
      await write(file.fd, 0)
    } catch (error) {
      await this.#host.discard(file)
      throw error
    }
    await this.#dropLoose(part)
    this.#loose.set(part, { file, offset: 0, sizeBytes, whole: true })
  }

  async #dropLoose(part: number): Promise<void> {
    const earlier = this.#loose.get(part)
    this.#loose.delete(part)
    if (earlier !== undefined) await this.#host.discard(earlier.file)
  }

  async complete(options?: { readonly ifAbsent?: boolean }): Promise<ObjectInfo | null> {
    this.#host.check()
    if (this.#done) throw new FrazilError('REFUSED', 'the upload has ended')
    if (this.#running.size > 0) throw new FrazilError('REFUSED', 'parts are still being sent')
    for (const [number, part] of this.#parts) {
      if (!part.whole) throw new FrazilError('REFUSED', `part ${number} failed and was not sent again`)
    }
    this.#done = true
    const { files } = this.#host
    try {
      const main = await this.#mainFile()
      let offset = this.#nextOffset
      for (const [, part] of [...this.#loose].sort(([a], [b]) => a - b)) {
        await copy(files, part.file.fd, 0, main.fd, offset, part.sizeBytes)
        offset += part.sizeBytes
      }
      return await this.#host.publish(main, options?.ifAbsent === true ? 'ifAbsent' : 'replace')
    } catch (error) {
      throw storeFailure(error, 'cannot complete an upload', 'write')
    } finally {
      await this.#release()
    }
  }

  async abort(): Promise<void> {
    if (this.#done) return
    this.#done = true
    // A part that still writes would write into whatever gets its descriptor's number next.
    await Promise.allSettled(this.#running)
    await this.#release()
  }

  async #release(): Promise<void> {
    for (const part of this.#loose.values()) await this.#host.discard(part.file)
    this.#loose.clear()
    if (this.#main !== null) await this.#host.discard(await this.#main)
  }
}

async function copy(files: Files, from: number, start: number, to: number, at: number, sizeBytes: number): Promise<void> {
  const step = Buffer.allocUnsafe(Math.min(STEP_BYTES, sizeBytes))
  for (let done = 0; done < sizeBytes;) {
    const wanted = Math.min(step.length, sizeBytes - done)
    const n = await readInto(files, from, step.subarray(0, wanted), start + done)
    if (n < wanted) throw new FrazilError('STORE_UNAVAILABLE', 'the source of a copy ended early')
    await writeAll(files, to, [step.subarray(0, n)], at + done)
    done += n
  }
}
