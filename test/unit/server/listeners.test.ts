import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { parseAdvertised, parseListeners } from '../../../src/server/listeners.ts'

test("Kafka's syntax", () => {
  expect(parseListeners('PLAINTEXT://127.0.0.1:9092')).toEqual([{ name: 'PLAINTEXT', host: '127.0.0.1', port: 9092 }])
  expect(parseListeners('plaintext://:0')).toEqual([{ name: 'PLAINTEXT', host: '', port: 0 }])
  expect(parseListeners(' PLAINTEXT://[::1]:9092 , IN-side_2://broker.example:9093', 'IN-SIDE_2:PLAINTEXT')).toEqual([
    { name: 'PLAINTEXT', host: '::1', port: 9092 },
    { name: 'IN-SIDE_2', host: 'broker.example', port: 9093 },
  ])
})

describe('one sentence that names the setting', () => {
  test.each([
    ['', 'not of the form'],
    ['127.0.0.1:9092', 'not of the form'],
    ['PLAINTEXT://host', 'not of the form'],
    ['PLAINTEXT://a b:1', 'not of the form'],
    ['PLAINTEXT://::1:9092', 'not of the form'],
    ['PLAINTEXT://a:70000', 'no port'],
    ['PLAINTEXT://a:1,', 'not of the form'],
    ['PLAINTEXT://a:1,PLAINTEXT://a:2', 'named twice'],
    ['SSL://a:1', 'only PLAINTEXT is served'],
    ['SASL_PLAINTEXT://a:1', 'only PLAINTEXT is served'],
    ['INSIDE://a:1', 'no security protocol'],
  ])('%s', (text, sentence) => {
    expect(() => parseListeners(text)).toThrow(
      expect.objectContaining({ code: 'SETTING_INVALID', message: expect.stringMatching(/^listeners: /) }),
    )
    expect(() => parseListeners(text)).toThrow(sentence)
  })

  test('names by the map, equal addresses', () => {
    expect(() => parseListeners('A://h:1,B://h:1', 'A:PLAINTEXT,B:PLAINTEXT')).toThrow('same address')
    expect(() => parseListeners('A://h:1', 'A:SSL')).toThrow('A wants SSL')
    expect(() => parseListeners('A://h:1', 'A=PLAINTEXT')).toThrow(/^listener.security.protocol.map: /)
  })
})

test('advertised listeners', () => {
  const bound = parseListeners('PLAINTEXT://0.0.0.0:9092,B://127.0.0.1:9093', 'B:PLAINTEXT')
  expect(parseAdvertised('', bound)).toEqual([
    { name: 'PLAINTEXT', host: hostname(), port: 9092 },
    { name: 'B', host: '127.0.0.1', port: 9093 },
  ])
  expect(parseAdvertised('PLAINTEXT://broker:19092', bound)).toEqual([{ name: 'PLAINTEXT', host: 'broker', port: 19092 }])
  expect(() => parseAdvertised('C://broker:1', bound)).toThrow('not among the listeners')
  expect(() => parseAdvertised('PLAINTEXT://0.0.0.0:1', bound)).toThrow('clients can reach')
  expect(() => parseAdvertised('PLAINTEXT://broker:0', bound)).toThrow('needs a port')
  expect(() => parseAdvertised('B://a:1,B://a:2', bound)).toThrow('named twice')
})
