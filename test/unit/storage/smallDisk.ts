import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll } from 'vitest'
import { systemFiles, type Files } from '../../../src/storage/files.ts'
import { FailingFiles } from './failingFiles.ts'
import { tempFolder } from './temp.ts'

const mounts: string[] = []

afterAll(() => {
  for (const mount of mounts.splice(0)) spawnSync('umount', ['-l', mount])
})

/** A folder with room for so many bytes: a disk of its own for root, else a count of what the files there hold. */
export function smallDisk(sizeBytes: number): { readonly folder: string; readonly files: Files } {
  const folder = tempFolder()
  if (process.getuid?.() === 0 && spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', folder]).status === 0) {
    mounts.push(folder)
    return { folder, files: systemFiles }
  }
  const counting = new FailingFiles()
  counting.plan = (call, args) => {
    if (call !== 'writev') return null
    const wanted = (args[1] as Uint8Array[]).reduce((sum, buffer) => sum + buffer.length, 0)
    const left = sizeBytes - usedBytes(folder)
    if (wanted <= left) return null
    return left > 0 ? { code: 'ENOSPC', afterBytes: left } : { code: 'ENOSPC' }
  }
  return { folder, files: counting.files }
}

function usedBytes(folder: string): number {
  let sum = 0
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) sum += fs.statSync(path.join(entry.parentPath, entry.name)).size
  }
  return sum
}
