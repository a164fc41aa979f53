import { expect, test } from 'vitest'
import { Errors } from '../../protocol/errors.ts'
import { checkBatch } from '../../protocol/records/validate.ts'
import { hostileCases } from '../unit/records/hostileCases.ts'
import { rules } from '../unit/records/help.ts'

// A7: message sets of magic 0 and 1 reached a write path that assumed batches of magic 2.

test.each(['magic 0', 'magic 1'])('%s is refused in every Produce version that is served, before a field of magic 2 is read', (name) => {
  const { records } = hostileCases.find((given) => given.name === name)!
  for (let produceVersion = 3; produceVersion <= 13; produceVersion++) {
    const checked = checkBatch(records, rules({ produceVersion }))
    expect(checked).toMatchObject({ error: Errors.INVALID_RECORD, header: null })
  }
})
