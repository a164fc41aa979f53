import { FrazilError, type ErrorCode } from '../base/errors.ts'

/** The code of a system error (`ENOENT`), or '' for anything else. */
export function systemCode(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code
  return typeof code === 'string' ? code : ''
}

const SENTENCES: Record<string, string> = {
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'the operation is not permitted there',
  EMFILE: 'the process has too many open files',
  ENFILE: 'the machine has too many open files',
  ENOTDIR: 'a part of its path is an object, not a folder',
  EISDIR: 'a folder of that name exists',
  EIO: 'the disk reported an error',
  EXDEV: 'a part of the folder lies on another file system',
}

/**
 * The FrazilError for a failed system call of a read, of a write that certainly had no effect, or of one that may have
 * taken effect (`doubt`), so that only reading back can tell; codes that name a plain refusal never leave that doubt.
 */
export function storeFailure(error: unknown, what: string, call: 'read' | 'write' | 'doubt'): FrazilError {
  if (error instanceof FrazilError) return error
  const code = systemCode(error)
  const sentence = SENTENCES[code] ?? (error instanceof Error ? error.message : String(error))
  return new FrazilError(failureCode(code, call), `${what}: ${sentence}`, error)
}

function failureCode(code: string, call: 'read' | 'write' | 'doubt'): ErrorCode {
  switch (code) {
    case 'ENOENT':
      return call === 'read' ? 'STORE_NOT_FOUND' : 'STORE_UNAVAILABLE'
    case 'ENOSPC':
    case 'EDQUOT':
      return 'STORE_FULL'
    case 'ENOTDIR':
    case 'EISDIR':
      return 'REFUSED'
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
    case 'EXDEV':
      return 'STORE_UNAVAILABLE'
    default:
      return call === 'doubt' ? 'STORE_UNKNOWN' : 'STORE_UNAVAILABLE'
  }
}
