import type { IcebergField, TableSchema } from '../../schemas/columns/types.ts'

/** Field ids of the log's columns: 1 to 99 are the log's, a user's fields start at 100. */
export const ColumnId = {
  partition: 1,
  offset: 2,
  timestamp: 3,
  timestampType: 4,
  key: 5,
  keyBytes: 6,
  keyForm: 7,
  value: 8,
  valueBytes: 9,
  valueForm: 10,
  headers: 11,
  header: 12,
  headerKey: 13,
  headerValue: 14,
  headersBytes: 15,
  crc: 16,
} as const

/** How a key or value comes back from its row (kafka_key_form, kafka_value_form). */
export const Form = { null: 0, string: 1, binary: 2 } as const

/** The first field id that a user's column may have. */
export const FIRST_USER_COLUMN_ID = 100

/**
 * The log's columns, in the order in which they stand at the end of every topic's table. Frozen (hazard F8): a change
 * here would need every table and every file to be migrated. test/fixtures/tables/row-schema.json holds the golden copy.
 */
export const LOG_FIELDS: readonly IcebergField[] = [
  { id: ColumnId.partition, name: 'kafka_partition', required: true, type: 'int', doc: 'Partition of the topic' },
  { id: ColumnId.offset, name: 'kafka_offset', required: true, type: 'long', doc: 'Offset within the partition' },
  {
    id: ColumnId.timestamp,
    name: 'kafka_timestamp',
    required: false,
    type: 'timestamptz',
    doc: 'Timestamp of the record; null when it has none',
  },
  { id: ColumnId.timestampType, name: 'kafka_timestamp_type', required: true, type: 'int', doc: '0 create time, 1 log append time' },
  { id: ColumnId.key, name: 'kafka_key', required: false, type: 'string', doc: 'Key, where its bytes are valid UTF-8' },
  { id: ColumnId.keyBytes, name: 'kafka_key_bytes', required: false, type: 'binary', doc: 'Key, where its bytes are no UTF-8' },
  { id: ColumnId.keyForm, name: 'kafka_key_form', required: true, type: 'int', doc: '0 null, 1 from kafka_key, 2 from kafka_key_bytes' },
  { id: ColumnId.value, name: 'kafka_value', required: false, type: 'string', doc: 'Value, where its bytes are valid UTF-8' },
  { id: ColumnId.valueBytes, name: 'kafka_value_bytes', required: false, type: 'binary', doc: 'Value, where its bytes are no UTF-8' },
  {
    id: ColumnId.valueForm,
    name: 'kafka_value_form',
    required: true,
    type: 'int',
    doc: '0 null, 1 from kafka_value, 2 from kafka_value_bytes',
  },
  {
    id: ColumnId.headers,
    name: 'kafka_headers',
    required: false,
    type: {
      type: 'list',
      'element-id': ColumnId.header,
      element: {
        type: 'struct',
        fields: [
          { id: ColumnId.headerKey, name: 'key', required: true, type: 'string' },
          { id: ColumnId.headerValue, name: 'value', required: false, type: 'binary' },
        ],
      },
      'element-required': true,
    },
    doc: 'Headers in order, repeats kept; empty when there are none',
  },
  {
    id: ColumnId.headersBytes,
    name: 'kafka_headers_bytes',
    required: false,
    type: 'binary',
    doc: 'Headers in wire form, where a header key is no UTF-8',
  },
  { id: ColumnId.crc, name: 'kafka_crc', required: true, type: 'int', doc: 'CRC-32C of the record, checked whenever it is rebuilt' },
]

/** The schema of a topic without typed values, as table metadata holds it: schema id 0, no identifier fields. */
export const ROW_SCHEMA = { type: 'struct', 'schema-id': 0, fields: LOG_FIELDS } as const satisfies TableSchema

/** A table's schema: a user's columns, then the log's. */
export function tableSchema(schemaId: number, userFields: readonly IcebergField[]): TableSchema {
  return { type: 'struct', 'schema-id': schemaId, fields: [...userFields, ...LOG_FIELDS] }
}

/** The highest field id of ROW_SCHEMA (`last-column-id`). */
export const ROW_LAST_COLUMN_ID = ColumnId.crc
