import { describe, expect, test } from 'vitest'
import { message } from '../../../protocol/schema.ts'
import { differences, parseKafkaMessage, toMessage } from '../../../scripts/kafka/definitions.ts'

/** scripts/compare-definitions.ts must be able to fail: each way in which a definition can differ is planted once. */
const kafka = `{
  "apiKey": 900, "type": "request", "name": "SampleRequest", // a comment, then "text" with // slashes
  "validVersions": "1-3", "flexibleVersions": "2+",
  "fields": [
    { "name": "Url", "type": "string", "versions": "0+", "nullableVersions": "2+", "default": "null", "ignorable": true, "about": "http://x" },
    { "name": "Limit", "type": "int64", "versions": "2+", "default": "0x7f", "taggedVersions": "2+", "tag": 0 },
    { "name": "Items", "type": "[]Item", "versions": "0+", "fields": [{ "name": "Id", "type": "int32", "versions": "0-2" }] },
    { "name": "Ids", "type": "[]uuid", "versions": "3+" },
    { "name": "Shared", "type": "Pair", "versions": "1+" }
  ],
  "commonStructs": [{ "name": "Pair", "versions": "0+", "fields": [{ "name": "A", "type": "bool", "versions": "0+", "default": "true" }] }]
}`

const ours = message({
  name: 'SampleRequest',
  validVersions: '1-3',
  flexibleVersions: '2+',
  fields: {
    url: { type: 'string', versions: '0+', nullable: '2+', default: null, ignorable: true },
    limit: { type: 'int64', versions: '2+', default: 127, tag: 0 },
    items: { type: 'array', versions: '0+', fields: { id: { type: 'int32', versions: '0-2' } } },
    ids: { type: 'array', of: 'uuid', versions: '3+' },
    shared: { type: 'struct', versions: '1+', fields: { a: { type: 'bool', versions: '0+', default: true } } },
  },
})

describe('comparison with Kafka', () => {
  test('the same definition has no differences', () => {
    expect(differences(ours, toMessage(parseKafkaMessage(kafka)))).toEqual([])
  })

  test.each([
    ['"1-3"', '"1-4"', 'SampleRequest: validVersions 1-3, Kafka 1-4'],
    ['"flexibleVersions": "2+"', '"flexibleVersions": "3+"', 'SampleRequest v2: top: flexible true, Kafka false'],
    ['"nullableVersions": "2+"', '"nullableVersions": "1+"', 'SampleRequest v1: url: nullable false, Kafka true'],
    ['"ignorable": true', '"ignorable": false', 'SampleRequest v1: url: ignorable true, Kafka false'],
    ['"default": "0x7f"', '"default": "-1"', 'SampleRequest v3: limit: default 127, Kafka -1'],
    ['"tag": 0', '"tag": 1', 'SampleRequest v2: limit: tag 0, Kafka 1'],
    ['"type": "int32"', '"type": "int16"', 'SampleRequest v3: items.id: type "int32", Kafka "int16"'],
    ['"versions": "0-2"', '"versions": "0+"', 'SampleRequest v3: items.id: place "absent", Kafka "body"'],
    ['"[]uuid"', '"[]string"', 'SampleRequest v3: ids: of "uuid", Kafka "string"'],
    ['"Ids"', '"IdList"', 'SampleRequest v1: top: fields [url limit items ids shared], Kafka [url limit items idList shared]'],
    ['"default": "true"', '"default": "false"', 'SampleRequest v1: shared.a: default true, Kafka false'],
  ])('%s made %s', (from, to, sentence) => {
    expect(kafka).toContain(from)
    expect(differences(ours, toMessage(parseKafkaMessage(kafka.replace(from, to))))).toContain(sentence)
  })

  test('what our form cannot say is refused', () => {
    const tagged = kafka.replace('"taggedVersions": "2+"', '"taggedVersions": "3+"')
    expect(() => toMessage(parseKafkaMessage(tagged))).toThrow('Limit is tagged in 3+ but there in 2+')
  })
})
