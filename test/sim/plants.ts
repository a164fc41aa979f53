/** A change of one source file: `find` must stand there once. */
interface Patch {
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** A bug that is planted into src while it is loaded, so that the simulation can be seen to find it (L24). */
export interface Plant {
  readonly name: string
  /** What it breaks. */
  readonly rule: string
  readonly patches: readonly Patch[]
}

export const PLANTS: readonly Plant[] = [
  {
    name: 'acknowledge-before-durable',
    rule: 'P1: an object is put, then committed',
    patches: [
      {
        file: 'src/wal/upload.ts',
        find: 'await options.store.put(key, body, { reason })',
        replace: 'void options.store.put(key, body, { reason }).catch(() => {})',
      },
    ],
  },
  {
    name: 'no-floor',
    rule: 'L4: a number that was truncated is not free',
    patches: [{ file: 'src/metadata/logs/tailSeen.ts', find: 'stale(): boolean {', replace: 'stale(): boolean {\n    return false' }],
  },
  {
    name: 'truncate-at-once',
    rule: 'L4: entries stay for the retention of a shared log',
    patches: [{ file: 'src/metadata/snapshot/seen.ts', find: 'if (this.#retentionMs === 0) return Infinity', replace: 'return Infinity' }],
  },
  {
    name: 'orphan-deleted-early',
    rule: 'L13: orphans are those of fenced incarnations',
    patches: [
      {
        file: 'src/wal/orphans.ts',
        find: 'metadata.state.isGone(incarnation)',
        replace: 'incarnation >= 0',
      },
      {
        file: 'src/metadata/apply/wal.ts',
        find: 'context.rooms.objects.hasKey(command.key) || context.rooms.deletionRows.has(command.key)',
        replace: 'context.rooms.objects.hasKey(command.key)',
      },
    ],
  },
  {
    name: 'map-order',
    rule: 'L5: no result of apply depends on the order of a Map',
    patches: [
      {
        file: 'src/metadata/apply/deletions.ts',
        find: 'rooms.deletionRows.add(key, timeMs + graceMs)',
        replace: 'rooms.deletionRows.add(key, timeMs + graceMs + [...rooms.recentResults.keys()].length)',
      },
      {
        file: 'src/metadata/state/recentResults.ts',
        find: 'export class RecentResults {',
        replace: 'export class RecentResults {\n  #keys = 0\n  keys() { return new Array(this.#keys++).keys() }',
      },
    ],
  },
  {
    name: 'clock-in-apply',
    rule: 'L6: apply reads no clock',
    patches: [
      {
        file: 'src/metadata/apply/deletions.ts',
        find: 'rooms.deletionRows.add(key, timeMs + graceMs)',
        replace: 'rooms.deletionRows.add(key, performance.now() + graceMs)',
      },
    ],
  },
  {
    name: 'delete-on-doubt',
    rule: 'P4: nothing is deleted while it is open whether its commit landed',
    patches: [
      {
        file: 'src/wal/writer.ts',
        find: '(error: unknown) => this.#lost(buffer, error),',
        replace:
          '(error: unknown) => { this.#lost(buffer, error); if (outcome.key !== "") void this.#options.store.delete([outcome.key]).catch(() => {}) },',
      },
    ],
  },
  {
    name: 'stale-lease-still-writes',
    rule: 'L21: the lease proves nothing, entries are created if absent',
    patches: [
      {
        file: 'src/metadata/logs/storeEntries.ts',
        find: 'store.putIfAbsent(entryKey(number)',
        replace: 'store.put(entryKey(number)',
      },
    ],
  },
  {
    name: 'offset-patched-wrong',
    rule: 'base offsets of batches read back follow from their counts',
    patches: [
      {
        file: 'src/log/partitionReader.ts',
        find: 'next += batchOffsetCount(located, at)',
        replace: 'next += Math.min(3, batchOffsetCount(located, at))',
      },
    ],
  },
  {
    name: 'dedupe-forgotten-after-restart',
    rule: 'KIP-98: sequences outlive a process',
    patches: [
      {
        file: 'src/metadata/snapshot/load.ts',
        find: 'const rooms = decodeSnapshot(snapshot, await log.readSnapshot(snapshot))',
        replace: 'const rooms = Object.assign(decodeSnapshot(snapshot, await log.readSnapshot(snapshot)), { forgets: true })',
      },
      {
        file: 'src/metadata/apply/producers.ts',
        find: 'const batch = producerRows.findBatch(slot, baseSequence, count)',
        replace: 'const batch = producerRows.findBatch(slot, baseSequence, count)\n  if (batch >= 0 && "forgets" in rooms) return ACCEPT',
      },
    ],
  },
  {
    name: 'table-commit-without-checking-ranges',
    rule: 'L7: a table commit names the version and ranges it expects',
    patches: [
      {
        file: 'src/metadata/apply/tables.ts',
        find: 'if (table.version !== command.expectedVersion)',
        replace: 'if (table.version < 0)',
      },
      {
        file: 'src/metadata/apply/tables.ts',
        find: 'if (command.publication < table.publication)',
        replace: 'if (command.publication < 0)',
      },
    ],
  },
  {
    name: 'stale-barrier',
    rule: 'L8: a barrier learns the end from the store',
    patches: [
      {
        file: 'src/metadata/engine.ts',
        find: 'barrier(): Promise<void> {',
        replace: 'barrier(): Promise<void> {\n    if (this.state.lastEntry > 20) return Promise.resolve()',
      },
    ],
  },
  {
    name: 'served-twice',
    rule: 'found here: a range that is converted while it is read',
    patches: [
      {
        file: 'src/log/partitionReader.ts',
        find: 'return out.records.length > 0 && batchBaseOffset(batch) < offset',
        replace: 'return false',
      },
    ],
  },
  {
    name: 'answer-of-another',
    rule: 'L2: answers go to the proposals of the entry that landed',
    patches: [
      {
        file: 'src/metadata/logs/storeEntries.ts',
        find: 'return (await get(number))?.equals(bytes) === true',
        replace: 'return (await get(number)) !== null',
      },
    ],
  },
  {
    name: 'wrong-aborted-list',
    rule: 'L17: a fetch names the aborted transactions whose records it serves',
    patches: [
      {
        file: 'src/log/partitionReader.ts',
        find: 'out.aborted = aborted.filter((one) => one.firstOffset < out.nextOffset)',
        replace: 'out.aborted = aborted.slice(1).filter((one) => one.firstOffset < out.nextOffset)',
      },
    ],
  },
  {
    name: 'aborted-rows-in-the-table',
    rule: 'P3: no row of an aborted transaction',
    patches: [
      {
        file: 'src/tables/convert/aborted.ts',
        find: 'for (const { producerId, firstOffset, lastOffset } of aborted) {',
        replace: 'for (const { producerId, firstOffset, lastOffset } of aborted.slice(1)) {',
      },
    ],
  },
]
