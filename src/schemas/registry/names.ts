import { invalidSubject } from './errors.ts'

export const DEFAULT_CONTEXT = '.'
/** Settings of all contexts together. */
export const GLOBAL_CONTEXT = '.__GLOBAL'

/** A subject and the context that it is in. */
export interface SubjectName {
  readonly context: string
  /** '' for the context itself. */
  readonly subject: string
}

const SUBJECT_MAX = 1024

/** `name` or `:.context:name`; `within` is the context of a bare name. Error: 42208. */
export function parseSubject(text: string, within = DEFAULT_CONTEXT): SubjectName {
  const match = /^:(\.[^:]*):(.*)$/s.exec(text)
  // a ':' elsewhere is part of the name
  const name = match === null ? { context: within, subject: text } : { context: match[1], subject: match[2] }
  // oxlint-disable-next-line no-control-regex
  if (text.length > SUBJECT_MAX || /[\u0000-\u001f\u007f]/.test(text)) throw invalidSubject(text)
  return name
}

/** As `parseSubject`, and it is no context. */
export function parseRealSubject(text: string, within?: string): SubjectName {
  const name = parseSubject(text, within)
  if (name.subject === '') throw invalidSubject(text)
  return name
}

/** How it is shown: bare in the default context. */
export function formatSubject({ context, subject }: SubjectName): string {
  return context === DEFAULT_CONTEXT ? subject : `:${context}:${subject}`
}

/** `.context`, `:.context:` and `context` are the same. */
export function parseContext(text: string): string {
  const bare = /^:(.*):$/s.exec(text)?.[1] ?? text
  const context = bare.startsWith('.') ? bare : `.${bare}`
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f:]/.test(context) || context.length > SUBJECT_MAX) throw invalidSubject(text)
  return context
}
