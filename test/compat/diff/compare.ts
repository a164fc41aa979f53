import { apis, type ApiKey } from '../../../protocol/index.ts'
import { EVERYWHERE, MASKS, type Mask } from './masks.ts'
import type { Step } from './side.ts'

/** One field in which the two answers differ. */
export interface Difference {
  readonly scenario: string
  readonly label: string
  readonly key: number
  readonly version: number
  /** Dotted path with `*` for array elements, '' for the answer as a whole. */
  readonly path: string
  readonly kafka: string
  readonly frazil: string
}

/** Ids that a broker chose, by the order in which they first come up: the same name on both sides means the same thing. */
export class Names {
  readonly #names = new Map<string, string>()

  of(kind: string, value: unknown): unknown {
    if (value === null || value === '' || value === -1 || value === 0 || value === '00000000-0000-0000-0000-000000000000') return value
    const id = `${kind} ${String(value)}`
    const known = this.#names.get(id)
    if (known !== undefined) return known
    const given = `<${kind} ${[...this.#names.keys()].filter((name) => name.startsWith(kind + ' ')).length + 1}>`
    this.#names.set(id, given)
    return given
  }
}

/** The steps of one scenario on both sides, field by field. */
export function compareSteps(scenario: string, kafka: readonly Step[], frazil: readonly Step[]): Difference[] {
  const found: Difference[] = []
  const names = [new Names(), new Names()]
  for (let i = 0; i < Math.max(kafka.length, frazil.length); i++) {
    const [a, b] = [kafka[i], frazil[i]]
    if (a === undefined || b === undefined || a.label !== b.label || a.key !== b.key || a.version !== b.version) {
      const { label, key, version } = (a ?? b)!
      found.push({ scenario, label, key, version, path: 'course', kafka: a?.label ?? 'ended', frazil: b?.label ?? 'ended' })
      break // what follows is another story
    }
    const at = { scenario, label: a.label, key: a.key, version: a.version }
    const [x, y] = [normal(a, names[0]), normal(b, names[1])]
    walk(x, y, '', (path, one, other) => found.push({ ...at, path, kafka: shown(one), frazil: shown(other) }))
  }
  return found
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 300 ? text.slice(0, 300) + '…' : text
}

function normal(step: Step, names: Names): unknown {
  if (typeof step.outcome === 'string') return step.outcome
  return normalise(step.outcome.value, '', MASKS[step.key as ApiKey] ?? {}, names)
}

function normalise(value: unknown, path: string, mask: Mask, names: Names): unknown {
  if (mask.ignored?.includes(path) || EVERYWHERE.ignored.some((end) => path.endsWith(end))) return '<ignored>'
  if (mask.texts?.includes(path) || EVERYWHERE.texts.some((end) => path.endsWith(end)))
    return value === null || value === '' ? value : '<text>'
  const kind = mask.ids?.[path]
  if (kind !== undefined && !Array.isArray(value)) return names.of(kind, value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (typeof value === 'number' && Number.isNaN(value)) return 'NaN'
  if (Array.isArray(value)) {
    const elements = value.map((element) => normalise(element, `${path}.*`, mask, names))
    const kept = elements.filter((element) => !isLeftOut(element, mask.left?.[path]))
    return mask.unordered?.includes(path) === true ? kept.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : kept
  }
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, normalise(inner, path === '' ? name : `${path}.${name}`, mask, names)]),
  )
}

function isLeftOut(element: unknown, left: ((element: never) => boolean) | undefined): boolean {
  return left !== undefined && left(element as never)
}

function walk(a: unknown, b: unknown, path: string, report: (path: string, a: unknown, b: unknown) => void): void {
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length === b.length) a.forEach((element, i) => walk(element, b[i], `${path}.*`, report))
    else report(`${path}.length`, ...onlyIn(a, b))
    return
  }
  const structs = [a, b].every((side) => side !== null && typeof side === 'object' && !Array.isArray(side))
  if (!structs) {
    if (a !== b) report(path, a, b)
    return
  }
  const [x, y] = [a, b] as Record<string, unknown>[]
  for (const name of new Set([...Object.keys(x), ...Object.keys(y)])) walk(x[name], y[name], path === '' ? name : `${path}.${name}`, report)
}

/** Of two arrays, what only one of them has. */
function onlyIn(a: readonly unknown[], b: readonly unknown[]): [unknown, unknown] {
  const [x, y] = [a, b].map((side) => new Set(side.map((element) => JSON.stringify(element))))
  const rest = (side: readonly unknown[], other: ReadonlySet<string>): unknown => ({
    length: side.length,
    only: side.filter((element) => !other.has(JSON.stringify(element))),
  })
  return [rest(a, y), rest(b, x)]
}

export function apiName(key: number): string {
  return apis[key as ApiKey]?.name ?? `API ${key}`
}
