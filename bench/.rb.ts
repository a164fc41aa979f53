import { readFileSync } from 'node:fs'
import { decodeFooter, leavesOf } from '../src/tables/parquet/footer.ts'
import { RowGroupReader, logPlaces, logRange, isOurs } from '../src/tables/parquet/rowGroupReader.ts'
import { batchesOf } from '../src/tables/readback/batches.ts'
const f = readFileSync('/tmp/pq/smoke.parquet')
const m = decodeFooter(f); const l = leavesOf(m.elements)
for (const g of m.rowGroups) { const p = logPlaces(l, g); const r = logRange(p); console.log(r, isOurs(m, l, p))
 const b = batchesOf(new RowGroupReader(g.rows, p, f.subarray(r.start, r.end), r.start)); console.log(b.partitions, b.firstOffsets, b.lastOffsets, b.batches.map(x=>x.length)) }
