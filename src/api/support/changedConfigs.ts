import { Errors, type RequestOf } from '../../../protocol/index.ts'
import { listItems } from '../../base/config/definition.ts'
import type { AlterConfigs } from '../../metadata/commands.ts'
import type { ApiParts } from '../parts.ts'
import type { AlterTarget } from './alterTarget.ts'
import { valueProblem, type ConfigError } from './topicConfigs.ts'

type Config = RequestOf<44>['resources'][number]['configs'][number]
type Change = Pick<AlterConfigs, 'set' | 'remove'>

export const SET = 0
export const DELETE = 1
const APPEND = 2
const SUBTRACT = 3
const OPERATIONS: Readonly<Record<number, string>> = { [SET]: 'SET', [DELETE]: 'DELETE', [APPEND]: 'APPEND', [SUBTRACT]: 'SUBTRACT' }
/** Fixed when the topic is made: a table is never moved (docs/DESIGN.md). */
export const FIXED: ReadonlySet<string> = new Set(['table.namespace', 'table.name'])

/** What a resource's operations come to, all of them or the first problem. */
export function changedConfigs(configs: readonly Config[], target: AlterTarget, parts: ApiParts): Change | ConfigError {
  const repeated = repeatedNames(configs)
  const invalid = (message: string): ConfigError => ({ error: Errors.INVALID_REQUEST, message })
  if (repeated.length > 0) return invalid(`Error due to duplicate config keys : ${repeated.join(',')}`)
  const nulls = configs.filter(({ value, configOperation }) => value === null && configOperation !== DELETE).map((config) => config.name)
  if (nulls.length > 0) return invalid(`Null value not supported for : ${nulls.join(',')}`)
  const set: Record<string, string> = {}
  const remove: string[] = []
  for (const config of configs) {
    const { name } = config
    if (target.kind === 'broker' && target.definitions.get(name)?.readOnly === true)
      return invalid(`Cannot update these configs dynamically: ${name}`)
    const outcome = changedValue(config, target)
    if (typeof outcome === 'object' && outcome !== null) return outcome
    if (outcome === null) {
      if (target.own.has(name)) remove.push(name)
      continue
    }
    const problem = valueProblem(target.kind, target.definitions, name, outcome) ?? fixedProblem(name, outcome, target, parts)
    if (problem !== null) return problem
    if (target.own.get(name) !== outcome) set[name] = outcome
  }
  const problem = target.wholeProblem?.(withChange(target.own, set, remove)) ?? null
  return problem === null ? { set, remove } : { error: Errors.INVALID_CONFIG, message: problem }
}

function withChange(own: ReadonlyMap<string, string>, set: Record<string, string>, remove: readonly string[]): Map<string, string> {
  const all = new Map([...own, ...Object.entries(set)])
  for (const name of remove) all.delete(name)
  return all
}

function repeatedNames(configs: readonly Config[]): string[] {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const { name } of configs) {
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  return [...repeated]
}

/** The new value of one key, null when it is to be deleted. */
function changedValue({ name, value, configOperation }: Config, target: AlterTarget): string | null | ConfigError {
  const definition = target.definitions.get(name)
  if (!(configOperation in OPERATIONS))
    return { error: Errors.INVALID_REQUEST, message: `Unknown operation ${configOperation} for ${name}` }
  if (configOperation === DELETE) return FIXED.has(name) && target.own.has(name) ? fixed(name) : null
  if (definition === undefined) return { error: Errors.INVALID_CONFIG, message: `Unknown ${target.kind} config name: ${name}` }
  if (configOperation === SET) return value!
  if (definition.type !== 'LIST') {
    return { error: Errors.INVALID_CONFIG, message: `Can't ${OPERATIONS[configOperation]} to key ${name} because its type is not LIST.` }
  }
  const present = listItems(target.effective(name) ?? '')
  const given = listItems(value!)
  return (configOperation === APPEND ? [...new Set([...present, ...given])] : present.filter((item) => !given.includes(item))).join(',')
}

function fixed(name: string): ConfigError {
  return { error: Errors.INVALID_CONFIG, message: `${name} is fixed when the topic is made.` }
}

function fixedProblem(name: string, value: string, target: AlterTarget, parts: ApiParts): ConfigError | null {
  if (!FIXED.has(name) || !('topic' in target.target)) return null
  const table = parts.metadata.state.table(target.target.topic)
  const current = name === 'table.namespace' ? table?.namespace : table?.name
  return current === value ? null : fixed(name)
}
