import { systemFiles, type Files } from '../../../src/storage/files.ts'

export type Call = keyof Files

/** What a call meets: an error code to fail with, or to write only so many bytes first. */
export interface Failure {
  readonly code: string
  /** `writev` only: bytes that come to disk before it fails. */
  readonly afterBytes?: number
  /** The call takes effect, then fails. */
  readonly afterEffect?: boolean
}

/**
 * The system calls with failures put in: `plan` is asked before each. `failed` are descriptors whose fsync failed; writing or
 * syncing one of them again is an error of the caller, kept in `abused`.
 */
export class FailingFiles {
  plan: (call: Call, args: readonly unknown[]) => Failure | null = () => null
  readonly calls: { readonly call: Call; readonly args: readonly unknown[] }[] = []
  readonly abused: string[] = []
  readonly #failed = new Set<number>()
  readonly files: Files

  constructor() {
    const calls = Object.keys(systemFiles) as Call[]
    this.files = Object.fromEntries(calls.map((call) => [call, (...args: unknown[]) => this.#run(call, args)])) as unknown as Files
  }

  async #run(call: Call, args: readonly unknown[]): Promise<unknown> {
    const real = systemFiles[call] as (...args: readonly unknown[]) => Promise<unknown>
    this.calls.push({ call, args })
    const fd = args[0] as number
    if (call === 'close') this.#failed.delete(fd)
    if (['writev', 'fdatasync', 'fsync'].includes(call) && this.#failed.has(fd)) this.abused.push(call)
    const failure = this.plan(call, args)
    if (failure === null) return real(...args)
    if (failure.afterBytes !== undefined) {
      const bytes = Buffer.concat(args[1] as Uint8Array[]).subarray(0, failure.afterBytes)
      if (bytes.length > 0) return systemFiles.writev(fd, [bytes], args[2] as number)
    }
    if (failure.afterEffect) await real(...args)
    if (call === 'fdatasync' || call === 'fsync') this.#failed.add(fd)
    throw Object.assign(new Error(`${failure.code}: planned`), { code: failure.code })
  }
}
