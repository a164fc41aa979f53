import { GROUP_CONFIGS } from '../base/config/groupConfigs.ts'
import { TOPIC_CONFIGS } from '../base/config/topicConfigs.ts'
import { BROKER_CONFIGS } from '../base/config/brokerConfigs.ts'
import type { ConfigDefinition } from '../base/config/definition.ts'
import { BROKER_SETTINGS, environmentName, SETTINGS, type SettingDefinition } from '../base/config/settings.ts'

const shownDefault = (setting: SettingDefinition): string =>
  setting.defaultShown ?? (setting.default === null || setting.default === '' ? 'none' : setting.default)

/** The text of `frazil --help`. */
export function helpText(): string {
  const width = Math.max(...SETTINGS.map((setting) => setting.name.length)) + 4
  const lines = SETTINGS.map((setting) => `  --${setting.name.padEnd(width - 4)}  ${setting.doc} [${shownDefault(setting)}]`)
  return `frazil: a Kafka-wire-compatible broker whose topics are Iceberg tables

usage: frazil serve [--config FILE] [--SETTING VALUE …]
       frazil check [--quick] [--repair] [--SETTING VALUE …]
                               verifies a store that no pod uses: objects, sizes, checksums, offsets; --quick: no rows of tables,
                               --repair: writes what is proven (snapshots of the metadata)
       frazil hold NAME [--minutes 120] [--http HOST:PORT]
                               nothing is deleted while a store is copied; release NAME ends it, holds lists those that last
       frazil restore [--SETTING VALUE …]
                               makes a copy of a store a cluster of its own, before pods start there
       frazil config-docs      the settings, topic and broker keys as docs/CONFIG.md has them
       frazil version
       frazil --help

Every setting is a flag, an environment variable (--wal-linger-ms is ${environmentName('wal-linger-ms')}) and a line of the YAML
file ("wal-linger-ms: 5"); flags win over the environment, that over the file.

${lines.join('\n')}
  --${'config'.padEnd(width - 4)}  YAML file with settings. [none]

Kafka's broker keys are settings too (num.partitions is --num-partitions, ${environmentName('num.partitions')} or a line of the file):
${wrap(BROKER_SETTINGS.map((setting) => setting.name))}
`
}

function wrap(names: readonly string[]): string {
  const lines: string[] = ['']
  for (const name of names) {
    const last = lines.length - 1
    if (lines[last]!.length + name.length > 118) lines.push(`  ${name}`)
    else lines[last] += lines[last] === '' ? `  ${name}` : ` ${name}`
  }
  return lines.join('\n')
}

function table(definitions: readonly ConfigDefinition[], columns: readonly [string, (definition: ConfigDefinition) => string][]): string {
  const cell = (text: string): string => text.replace(/\|/g, '\\|')
  return [
    `| ${columns.map(([title]) => title).join(' | ')} |`,
    `| ${columns.map(() => '---').join(' | ')} |`,
    ...definitions.map((definition) => `| ${columns.map(([, show]) => cell(show(definition))).join(' | ')} |`),
  ].join('\n')
}

const code = (text: string | null): string => (text === null || text === '' ? '' : `\`${text}\``)

/** docs/CONFIG.md, printed from the same tables that check the values. */
export function configDocs(): string {
  return `# Settings

Printed by \`frazil config-docs\` from the typed tables in src/base/config; a test keeps this page equal to them.

## The process
A setting is a flag, an environment variable and a line of a YAML file (\`--config\`); flags win over the environment, that over the file.

${table(SETTINGS, [
  ['flag', (one) => code(`--${one.name}`)],
  ['environment', (one) => code(environmentName(one.name))],
  ['type', (one) => one.type.toLowerCase()],
  ['default', (one) => (one as SettingDefinition).defaultShown ?? code(one.default)],
  ['what', (one) => one.doc],
])}

## Memory
What bounds it, whatever clients do: requests hold \`request-memory-bytes\` and one request more (sockets wait); answers that clients do not
read hold twice \`response-memory-bytes\` and one answer more (fetches get smaller, then only Produce is served, and who takes nothing for 15 s
is closed); records written and read again \`cache-bytes\` and \`table-cache-bytes\`, and 96 MiB for log objects read back; reads under way
128 MiB; one batch that is being inflated for its checks 128 MiB; about 75 KiB a connection. V8 collects what has become free once that is
512 MiB. Measured by \`npm run limits\` with the defaults: 100 connections with 10 MiB in flight each, 1.1 GiB resident, 261 MiB of it held
by requests; after 1, 2, 3 and 4 GiB produced 679, 661, 711 and 693 MiB.

## Broker keys
By Kafka's names; set at start as above, those not marked "at start" also while running (kafka-configs, any admin client).

${table(
  [...BROKER_CONFIGS.values()],
  [
    ['key', (one) => code(one.name)],
    ['type', (one) => one.type.toLowerCase()],
    ['default', (one) => code(one.default)],
    ['changed', (one) => (one.readOnly ? 'at start' : 'any time')],
    ['what', (one) => one.doc],
  ],
)}

## Group keys
Of consumer groups (KIP-848), set at any time by an admin client (resource GROUP), within the broker's \`group.consumer.min\` and \`max\` keys.

${table(
  [...GROUP_CONFIGS.values()],
  [
    ['key', (one) => code(one.name)],
    ['type', (one) => one.type.toLowerCase()],
    ['default', (one) => code(one.default)],
    ['broker key', (one) => code(one.brokerKey ?? null)],
    ['what', (one) => one.doc],
  ],
)}

## Topic keys
Set when a topic is made or at any time by an admin client.

${table(
  [...TOPIC_CONFIGS.values()],
  [
    ['key', (one) => code(one.name)],
    ['type', (one) => one.type.toLowerCase()],
    ['default', (one) => code(one.default)],
    ['broker key', (one) => code(one.brokerKey ?? null)],
    ['what', (one) => one.doc],
  ],
)}
`
}
