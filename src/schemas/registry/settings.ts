import { isDeepStrictEqual } from 'node:util'
import type { SchemasView } from '../../metadata/view.ts'
import { badRequest, invalidCompatibility, invalidMode } from './errors.ts'
import { DEFAULT_CONTEXT, GLOBAL_CONTEXT, type SubjectName } from './names.ts'

export const COMPATIBILITIES = [
  'NONE',
  'BACKWARD',
  'BACKWARD_TRANSITIVE',
  'FORWARD',
  'FORWARD_TRANSITIVE',
  'FULL',
  'FULL_TRANSITIVE',
] as const
export type Compatibility = (typeof COMPATIBILITIES)[number]

export const MODES = ['READWRITE', 'READONLY', 'READONLY_OVERRIDE', 'IMPORT'] as const
export type Mode = (typeof MODES)[number]

/** What the API calls config; what is not set comes from the context, then from all contexts. */
export interface Config {
  readonly compatibilityLevel?: Compatibility
  readonly normalize?: boolean
  readonly validateFields?: boolean
  readonly validateNames?: boolean
  /** Another subject that this one stands for. */
  readonly alias?: string
  /** A metadata property: only versions with the same value are compared. */
  readonly compatibilityGroup?: string
  readonly compatibilityPolicy?: string
  readonly defaultMetadata?: unknown
  readonly overrideMetadata?: unknown
  readonly defaultRuleSet?: unknown
  readonly overrideRuleSet?: unknown
}

const TEXTS: ReadonlySet<string> = new Set(['alias', 'compatibilityGroup', 'compatibilityPolicy'])
const FLAGS: ReadonlySet<string> = new Set(['normalize', 'validateFields', 'validateNames'])
const OBJECTS: ReadonlySet<string> = new Set(['defaultMetadata', 'overrideMetadata', 'defaultRuleSet', 'overrideRuleSet'])

/** The request's body over what was set: what it does not name stays, null removes. Errors: 400, 42203. */
export function mergeConfig(before: Config, request: Readonly<Record<string, unknown>>): Config {
  const merged: Record<string, unknown> = { ...before }
  const set = (name: string, value: unknown, right: boolean): void => {
    if (value === null) delete merged[name]
    else if (!right) throw badRequest(`"${name}" has a wrong value`)
    else merged[name] = value
  }
  for (const [name, value] of Object.entries(request)) {
    if (name === 'compatibility' || name === 'compatibilityLevel') {
      if (value === null) delete merged.compatibilityLevel
      else merged.compatibilityLevel = parseCompatibility(value)
    } else if (TEXTS.has(name)) set(name, value, typeof value === 'string')
    else if (FLAGS.has(name)) set(name, value, typeof value === 'boolean')
    else if (OBJECTS.has(name)) set(name, value, typeof value === 'object')
  }
  return merged
}

function parseCompatibility(value: unknown): Compatibility {
  const level = COMPATIBILITIES.find((known) => typeof value === 'string' && known === value.toUpperCase())
  if (level === undefined) throw invalidCompatibility()
  return level
}

/** Error: 42204. */
export function parseMode(value: unknown): Mode {
  const mode = MODES.find((known) => typeof value === 'string' && known === value.toUpperCase())
  if (mode === undefined) throw invalidMode()
  return mode
}

/** Where settings of a subject may come from, nearest first: itself, its context, the default context, all contexts. */
function scopes({ context, subject }: SubjectName): SubjectName[] {
  const found = [{ context, subject }]
  for (const outer of [context, DEFAULT_CONTEXT, GLOBAL_CONTEXT])
    if (!found.some((scope) => scope.context === outer && scope.subject === '')) found.push({ context: outer, subject: '' })
  return found
}

/** The settings of exactly this subject or context, or null. */
export function ownConfig(view: SchemasView, { context, subject }: SubjectName): Config | null {
  const text = view.settings(context, subject)?.config ?? ''
  return text === '' ? null : (JSON.parse(text) as Config)
}

export function ownMode(view: SchemasView, { context, subject }: SubjectName): Mode | null {
  const mode = view.settings(context, subject)?.mode ?? ''
  return mode === '' ? null : (mode as Mode)
}

/** Every setting from the nearest scope that has it. */
export function effectiveConfig(view: SchemasView, name: SubjectName): Config {
  const config: Config = { compatibilityLevel: 'BACKWARD' }
  for (const scope of scopes(name).toReversed())
    Object.assign(config, ownConfig(view, scope), scope.subject === '' ? { alias: undefined } : {})
  return config
}

/** READONLY_OVERRIDE of all contexts goes before everything. */
export function effectiveMode(view: SchemasView, name: SubjectName): Mode {
  for (const context of [GLOBAL_CONTEXT, DEFAULT_CONTEXT])
    if (ownMode(view, { context, subject: '' }) === 'READONLY_OVERRIDE') return 'READONLY_OVERRIDE'
  for (const scope of scopes(name)) {
    const mode = ownMode(view, scope)
    if (mode !== null) return mode
  }
  return 'READWRITE'
}

/** Whether two versions are compared under a compatibility group. */
export function sameGroup(group: string | undefined, first: unknown, second: unknown): boolean {
  if (group === undefined) return true
  const property = (metadata: unknown): unknown => (metadata as { properties?: Record<string, unknown> } | undefined)?.properties?.[group]
  return isDeepStrictEqual(property(first), property(second))
}
