import protobuf, { type Namespace, type ReflectionObject } from 'protobufjs'
import type { ProtoFile } from './file.ts'
import type { Statement } from './text.ts'

const HEAD = ['syntax', 'edition', 'package', 'import', 'option']

/** Imports and options in order, type names in full: what two files that say the same have in common. */
export function normalize(file: ProtoFile): Statement[] {
  const rank = ({ tokens }: Statement): number => (HEAD.indexOf(tokens[0]) + HEAD.length + 1) % (HEAD.length + 1)
  const sorted = file.statements.toSorted((a, b) => {
    const [first, second] = [rank(a), rank(b)]
    if (first !== second) return first - second
    return a.tokens[0] === 'import' || a.tokens[0] === 'option' ? byText(a, b) : 0
  })
  const [first] = [...file.messages, ...file.enums, ...file.services]
  const space = first?.parent
  return space instanceof protobuf.Namespace ? sorted.map((statement) => qualify(statement, space)) : sorted
}

const byText = (a: Statement, b: Statement): number => {
  const [first, second] = [a.tokens.join(' '), b.tokens.join(' ')]
  return first < second ? -1 : first > second ? 1 : 0
}

function qualify(statement: Statement, space: Namespace): Statement {
  const { tokens, block } = statement
  if (block !== null) {
    const inner = tokens[0] === 'message' ? space.get(tokens[1]) : null
    return { tokens, block: block.map((item) => qualify(item, inner instanceof protobuf.Namespace ? inner : space)) }
  }
  if (HEAD.includes(tokens[0]) || tokens[0] === 'reserved' || tokens[0] === 'extensions' || tokens[0] === 'rpc') return statement
  return { tokens: tokens.map((token, i) => fullName(tokens, i, token, space)), block }
}

const SCALAR = /^(double|float|u?int(32|64)|sint(32|64)|s?fixed(32|64)|bool|string|bytes)$/

/** The type of a field: before its name, or the second one of a map. */
function fullName(tokens: readonly string[], i: number, token: string, space: Namespace): string {
  const equals = tokens.indexOf('=')
  const isMap = tokens[0] === 'map' && tokens[1] === '<'
  const place = isMap ? 4 : equals - 2
  if (i !== place || equals < 0 || place < 0 || SCALAR.test(token) || !/^[A-Za-z_.]/.test(token)) return token
  const found: ReflectionObject | null = space.lookup(token)
  return found instanceof protobuf.Type || found instanceof protobuf.Enum ? found.fullName : token
}
