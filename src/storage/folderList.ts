import path from 'node:path'
import type { Files } from './files.ts'
import { systemCode } from './failures.ts'
import { compareKeys, isReserved } from './keys.ts'

/**
 * Keys of the files under `root` with this prefix after `startAfter`, ascending by UTF-8 bytes, walking one folder at a time
 * and only those that can hold one. Links and anything else that is no plain file are not objects.
 */
export async function* walkKeys(files: Files, root: string, prefix: string, startAfter: string): AsyncGenerator<string> {
  const slash = prefix.lastIndexOf('/')
  yield* walk(files, root, prefix.slice(0, slash + 1), prefix, startAfter)
}

async function* walk(files: Files, root: string, folder: string, prefix: string, startAfter: string): AsyncGenerator<string> {
  let entries
  try {
    entries = await files.list(path.join(root, folder))
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return // never there, or removed since its parent was read
    throw error
  }
  // A folder stands for keys that go on with '/', so it is ordered as if it ended so: 'a-b' < 'a/b' < 'a0'.
  const names: string[] = []
  for (const entry of entries) {
    if (entry.isDirectory()) names.push(`${folder}${entry.name}/`)
    else if (entry.isFile()) names.push(`${folder}${entry.name}`)
  }
  names.sort(compareKeys)
  for (const name of names) {
    if (name.endsWith('/')) {
      if (!(name.startsWith(prefix) || prefix.startsWith(name)) || isReserved(name)) continue
      if (compareKeys(name, startAfter) < 0 && !startAfter.startsWith(name)) continue
      yield* walk(files, root, name, prefix, startAfter)
    } else if (name.startsWith(prefix) && !isReserved(name) && compareKeys(name, startAfter) > 0) {
      yield name
    }
  }
}
