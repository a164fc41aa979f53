import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { configProblem } from '../../../src/base/config/definition.ts'
import { folderOf, hostPort, loadSettings } from '../../../src/base/config/load.ts'
import { TOPIC_CONFIGS } from '../../../src/base/config/topicConfigs.ts'
import { topicSettings } from '../../../src/base/config/topicSettings.ts'
import { configDocs, helpText } from '../../../src/cli/help.ts'

const load = (args: string[], environment: Record<string, string> = {}, file: unknown = undefined) =>
  loadSettings(args, environment, () => file)

describe('settings', () => {
  it('come from flags, then the environment, then the file, then the default', () => {
    const file = { 'wal-linger-ms': 3, 'num.partitions': 7, fsync: false, 'wal-grace-ms': 9 }
    const settings = load(['--config', 'x.yaml', '--wal-linger-ms', '1'], { FRAZIL_WAL_LINGER_MS: '2', FRAZIL_WAL_GRACE_MS: '8' }, file)
    expect(settings.walLingerMs).toBe(1)
    expect(settings.walGraceMs).toBe(8)
    expect(settings.fsync).toBe(false)
    expect(settings.broker.get('num.partitions')).toBe('7')
    expect(settings.walMaxBytes).toBe(8388608)
  })

  it('take broker keys as flags with dots or dashes and as environment variables', () => {
    expect(load(['--num.partitions', '4']).broker.get('num.partitions')).toBe('4')
    expect(load(['--num-partitions=5']).broker.get('num.partitions')).toBe('5')
    expect(load([], { FRAZIL_AUTO_CREATE_TOPICS_ENABLE: 'false' }).broker.get('auto.create.topics.enable')).toBe('false')
  })

  it('are refused with one sentence that names the setting', () => {
    expect(() => load(['--wal-linger-ms', 'soon'])).toThrow(/--wal-linger-ms: Invalid value soon/)
    expect(() => load([], { FRAZIL_NUM_PARTITIONS: '0' })).toThrow(/FRAZIL_NUM_PARTITIONS: Invalid value 0 .* at least 1/)
    expect(() => load(['--walls', '1'])).toThrow(/--walls/)
    expect(() => load(['--pod', ''])).toThrow(/--pod: .* 1 to 253 characters/)
    expect(() => load(['--wal-linger-ms', '--fsync'])).toThrow(/^[^\n]*--wal-linger-ms[^\n]*$/)
    expect(load(['--log-retention-ms', '-1']).broker.get('log.retention.ms')).toBe('-1')
    expect(() => load(['--config', 'x.yaml'], {}, { walls: 1 })).toThrow(/unknown setting "walls"/)
    expect(() => folderOf('store', 's3://bucket')).toThrow(/must be file:FOLDER/)
    expect(() => folderOf('metadata', 'postgres://h/d')).toThrow(/must be file:FOLDER/)
    expect(() => hostPort('http', 'nowhere')).toThrow(/HOST:PORT/)
  })

  it('understand addresses and folders', () => {
    expect(hostPort('http', '[::1]:8181')).toEqual({ host: '::1', port: 8181 })
    expect(folderOf('store', 'file:./a b')).toBe('./a b')
    expect(folderOf('store', 'file:///a%20b')).toBe('/a b')
  })
})

describe('configuration keys', () => {
  it('have defaults that pass their own checks', () => {
    const wrong = [...TOPIC_CONFIGS.values()].filter(
      (one) => one.default !== null && one.default !== '' && configProblem(one, one.default) !== null,
    )
    expect(wrong).toEqual([])
  })

  it('refuse wrong values', () => {
    expect(configProblem(TOPIC_CONFIGS.get('retention.ms')!, '9223372036854775808')).toMatch(/LONG/)
    expect(configProblem(TOPIC_CONFIGS.get('retention.ms')!, '-2')).toMatch(/at least -1/)
    expect(configProblem(TOPIC_CONFIGS.get('cleanup.policy')!, 'compact,burn')).toMatch(/one of/)
    expect(configProblem(TOPIC_CONFIGS.get('cleanup.policy')!, 'compact, delete')).toBeNull()
    expect(configProblem(TOPIC_CONFIGS.get('preallocate')!, 'yes')).toMatch(/true or false/)
  })

  it('derive settings: own value, then the broker’s, then the default; table retention never below retention', () => {
    const broker = { own: (key: string) => ({ 'log.retention.ms': '1000', 'message.max.bytes': '77' })[key] }
    const configs = new Map([
      ['max.message.bytes', '55'],
      ['table.retention.ms', '10'],
    ])
    const settings = topicSettings({ name: 'a', configs }, broker)
    expect(settings.maxMessageBytes).toBe(55)
    expect(settings.retentionMs).toBe(1000)
    expect(settings.table.retentionMs).toBe(1000)
    expect(settings.timestampBeforeMaxMs).toBe(Number.POSITIVE_INFINITY)
    expect(topicSettings({ name: 'a-changelog', configs }, broker).table.enable).toBe(false)
    expect(topicSettings({ name: '__a', configs: new Map([['table.enable', 'true']]) }, broker).table.enable).toBe(true)
  })
})

describe('documentation', () => {
  it('docs/CONFIG.md is what the tables print', () => {
    expect(readFileSync(new URL('../../../docs/CONFIG.md', import.meta.url), 'utf8')).toBe(configDocs())
  })

  it('help names every setting', () => {
    for (const name of ['--listeners', '--store', '--fsync', 'num.partitions', 'FRAZIL_NUM_PARTITIONS']) expect(helpText()).toContain(name)
  })
})
