import type { LeafSink } from '../../schemas/columns/ports.ts'
import type { IcebergField } from '../../schemas/columns/types.ts'
import type { RowSource } from './rowGroupReader.ts'

/** Reserved field ids (Iceberg spec, "Reserved Field IDs"). */
const ROW_ID = 2147483540
const LAST_UPDATED = 2147483539
/** Ids from here on are no columns of a table. */
export const FIRST_RESERVED_ID = 2147483447

/** The columns in which rows that were moved keep their identity (v3, "Row Lineage"; T11). They stand before all others. */
export const LINEAGE_FIELDS: readonly IcebergField[] = [
  { id: ROW_ID, name: '_row_id', required: false, type: 'long' },
  { id: LAST_UPDATED, name: '_last_updated_sequence_number', required: false, type: 'long' },
]

/** What the rows of a file inherit from its manifest entry, where they hold nothing of their own. */
export interface RowOrigin {
  /** null while the file has none: its rows get ids where they are moved to. */
  readonly firstRowId: number | null
  readonly sequenceNumber: number
}

function put(sink: LeafSink, value: number): void {
  const high = Math.floor(value / 4294967296)
  sink.long(high, (value - high * 4294967296) | 0, 0)
}

/** Copies a column of the source if the row has a value there. */
function copyOwn(source: RowSource, id: number, row: number, sink: LeafSink): boolean {
  const own = source.columns.get(id)
  if (own === undefined) return false
  own.seek(row)
  if (own.definition[own.entry] !== own.leaf.maxDefinition) return false
  const at = own.valueAt[own.entry]!
  sink.long(own.ints[2 * at + 1]!, own.ints[2 * at]!, 0)
  return true
}

/** Writes the identity of rows that are moved: their own, or what they inherit by their position in the file. */
export class LineageCopier {
  readonly #rowId: LeafSink
  readonly #lastUpdated: LeafSink

  constructor(sink: (id: number) => LeafSink) {
    this.#rowId = sink(ROW_ID)
    this.#lastUpdated = sink(LAST_UPDATED)
  }

  /** `position` is that of the row in its file. */
  copy(source: RowSource, row: number, position: number, origin: RowOrigin): void {
    if (!copyOwn(source, ROW_ID, row, this.#rowId)) {
      if (origin.firstRowId === null) this.#rowId.absent(0, 0)
      else put(this.#rowId, origin.firstRowId + position)
    }
    if (!copyOwn(source, LAST_UPDATED, row, this.#lastUpdated)) put(this.#lastUpdated, origin.sequenceNumber)
  }
}
