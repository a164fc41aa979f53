// I5: readers resolve manifest columns by field id and refuse a manifest list without them. Spec, "Manifests" and "Manifest
// Lists": every field has `field-id`, lists have `element-id`, maps with int keys are lists of key and value records with
// logicalType "map".
import { readFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { currentSnapshot } from '../../src/tables/iceberg/table.ts'
import { bench, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

interface Found {
  readonly fields: Record<string, number>
  readonly elements: number[]
  readonly maps: number
}

/** The schema in an Avro file's header, as it stands there. */
function schemaOf(bytes: Buffer): unknown {
  const start = bytes.indexOf('{"type":"record"')
  let depth = 0
  for (let at = start; ; at++) {
    if (bytes[at] === 0x7b) depth++
    if (bytes[at] === 0x7d && --depth === 0) return JSON.parse(bytes.subarray(start, at + 1).toString())
  }
}

function collect(schema: unknown): Found {
  const fields: Record<string, number> = {}
  const elements: number[] = []
  let maps = 0
  const walk = (node: any): void => {
    if (Array.isArray(node)) return node.forEach(walk)
    if (typeof node !== 'object' || node === null) return
    if (node.type === 'array') {
      if (node.logicalType === 'map') maps++
      else elements.push(node['element-id'])
    }
    for (const field of node.fields ?? []) {
      fields[field.name in fields ? `${field.name}:${field['field-id']}` : field.name] = field['field-id']
      walk(field.type)
    }
    walk(node.items)
    if (typeof node.type === 'object') walk(node.type)
  }
  walk(schema)
  return { fields, elements, maps }
}

it('manifest lists and manifests carry the ids of the spec', async () => {
  b = await bench()
  const topic = await b.topic('t', 1)
  await b.produce(topic, 0, ['a'])
  const { metadata, lines } = await b.load(topic)
  const list = collect(schemaOf(readFileSync(new URL(currentSnapshot(metadata)!['manifest-list']))))
  expect(list.fields).toEqual({
    manifest_path: 500,
    manifest_length: 501,
    partition_spec_id: 502,
    content: 517,
    sequence_number: 515,
    min_sequence_number: 516,
    added_snapshot_id: 503,
    added_files_count: 504,
    existing_files_count: 505,
    deleted_files_count: 506,
    added_rows_count: 512,
    existing_rows_count: 513,
    deleted_rows_count: 514,
    partitions: 507,
    contains_null: 509,
    contains_nan: 518,
    lower_bound: 510,
    upper_bound: 511,
    key_metadata: 519,
  })
  expect(list.elements).toEqual([508])
  const manifest = collect(schemaOf(readFileSync(new URL(lines[0]!.path))))
  expect(manifest.fields).toMatchObject({
    status: 0,
    snapshot_id: 1,
    sequence_number: 3,
    file_sequence_number: 4,
    data_file: 2,
    content: 134,
    file_path: 100,
    file_format: 101,
    partition: 102,
    record_count: 103,
    file_size_in_bytes: 104,
    column_sizes: 108,
    value_counts: 109,
    null_value_counts: 110,
    nan_value_counts: 137,
    lower_bounds: 125,
    upper_bounds: 128,
    key_metadata: 131,
    split_offsets: 132,
    equality_ids: 135,
    sort_order_id: 140,
  })
  const ids = Object.values(manifest.fields)
  for (const [key, value] of [
    [117, 118],
    [119, 120],
    [121, 122],
    [138, 139],
    [126, 127],
    [129, 130],
  ])
    expect(ids).toEqual(expect.arrayContaining([key, value]))
  expect(manifest.elements).toEqual([133, 136])
  expect(manifest.maps).toBe(6)
  expect(ids.every(Number.isInteger)).toBe(true)
})
