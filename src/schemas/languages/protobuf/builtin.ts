import protobuf, { type INamespace } from 'protobufjs'
import api from 'protobufjs/google/protobuf/api.json' with { type: 'json' }
import descriptor from 'protobufjs/google/protobuf/descriptor.json' with { type: 'json' }
import sourceContext from 'protobufjs/google/protobuf/source_context.json' with { type: 'json' }
import type from 'protobufjs/google/protobuf/type.json' with { type: 'json' }

/** Files that no reference needs to name, as text: Confluent's annotations and the common types of google/type. */
const TEXTS: Readonly<Record<string, string>> = {
  'confluent/meta.proto': `syntax = "proto3"; package confluent; import "google/protobuf/descriptor.proto";
    message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }
    extend google.protobuf.FileOptions { Meta file_meta = 1088; }
    extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
    extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
    extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
    extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }`,
  'confluent/type/decimal.proto': `syntax = "proto3"; package confluent.type;
    message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }`,
  'google/type/date.proto': `syntax = "proto3"; package google.type; message Date { int32 year = 1; int32 month = 2; int32 day = 3; }`,
  'google/type/decimal.proto': `syntax = "proto3"; package google.type; message Decimal { string value = 1; }`,
  'google/type/latlng.proto': `syntax = "proto3"; package google.type; message LatLng { double latitude = 1; double longitude = 2; }`,
  'google/type/money.proto': `syntax = "proto3"; package google.type; message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }`,
  'google/type/timeofday.proto': `syntax = "proto3"; package google.type;
    message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }`,
  'google/type/interval.proto': `syntax = "proto3"; package google.type; import "google/protobuf/timestamp.proto";
    message Interval { google.protobuf.Timestamp start_time = 1; google.protobuf.Timestamp end_time = 2; }`,
  'google/type/dayofweek.proto': `syntax = "proto3"; package google.type;
    enum DayOfWeek { DAY_OF_WEEK_UNSPECIFIED = 0; MONDAY = 1; TUESDAY = 2; WEDNESDAY = 3; THURSDAY = 4; FRIDAY = 5; SATURDAY = 6; SUNDAY = 7; }`,
}

const MORE: Readonly<Record<string, unknown>> = {
  'google/protobuf/api.proto': api,
  'google/protobuf/descriptor.proto': descriptor,
  'google/protobuf/source_context.proto': sourceContext,
  'google/protobuf/type.proto': type,
}
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  'google/protobuf/api.proto': ['google/protobuf/source_context.proto', 'google/protobuf/type.proto', 'google/protobuf/any.proto'],
  'google/protobuf/type.proto': ['google/protobuf/source_context.proto', 'google/protobuf/any.proto'],
}

/** A file that every Protobuf schema may import without a reference: its text, or its definitions and imports. */
export function builtin(name: string): { text: string } | { json: INamespace; imports: readonly string[] } | null {
  if (Object.hasOwn(TEXTS, name)) return { text: TEXTS[name] }
  const json = (Object.hasOwn(MORE, name) ? MORE[name] : protobuf.common.get(name)) as INamespace | null
  return json === null ? null : { json, imports: NEEDS[name] ?? [] }
}
