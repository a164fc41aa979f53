import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FIRST_USER_COLUMN_ID, LOG_FIELDS, ROW_LAST_COLUMN_ID } from '../../src/tables/row/schema.ts'

// F8: names and types of the record's own columns changed between versions: every table had to be migrated.

test('the log’s columns are the golden ones, names, ids, types and order', () => {
  const golden: unknown = JSON.parse(readFileSync(new URL('../fixtures/tables/row-schema.json', import.meta.url), 'utf8'))
  expect(LOG_FIELDS).toEqual(golden)
  expect(LOG_FIELDS.every((field) => field.name.startsWith('kafka_'))).toBe(true)
  expect(ROW_LAST_COLUMN_ID).toBeLessThan(FIRST_USER_COLUMN_ID)
})
