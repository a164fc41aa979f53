/**
 * ListPartitionReassignments (46): moves of partitions that are under way (KIP-455). Served v0.
 *
 * A node that comes or goes changes who leads at once, and nothing is copied: no move is ever under way, whatever is asked for.
 */
import { Errors } from '../../protocol/index.ts'
import { serve } from './handler.ts'

export default serve(
  46,
  { min: 0, max: 0 },
  {
    handle: () => ({ throttleTimeMs: 0, errorCode: Errors.NONE, errorMessage: null, topics: [] }),
    fail: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, errorMessage: null, topics: [] }),
  },
)
