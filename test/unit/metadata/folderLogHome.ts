import fs from 'node:fs'
import path from 'node:path'
import { FolderLog, type FolderLogOptions } from '../../../src/metadata/logs/folderLog.ts'
import { FolderStore } from '../../../src/storage/folder.ts'
import { collect } from './entryLogSuite.ts'

type Extra = Partial<FolderLogOptions> & { readonly fsync?: boolean }

/** An open log in small files, without fsync unless asked for. */
export async function openLog(root: string, extra: Extra = {}): Promise<FolderLog> {
  const store = new FolderStore({ path: root, fsync: extra.fsync ?? false, files: extra.files })
  await store.open()
  const log = new FolderLog({ store, podName: 'test', lockWaitMs: 0, segmentBytes: 4096, ...extra })
  await log.open()
  return log
}

/** Paths of the files of the log, in order. */
export function logFiles(root: string): string[] {
  const folder = path.join(root, 'meta', 'log')
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .toSorted()
    .map((name) => path.join(folder, name))
}

/** Numbers of the entries that the log gives out. */
export async function numbers(log: FolderLog): Promise<number[]> {
  return (await collect(log, await log.floor())).map(({ number }) => number)
}
