import { FrazilError } from '../../../base/errors.ts'
import { DEPTH_MAX } from '../language.ts'

const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|[A-Za-z0-9_.]+|[-+{}[\]()<>=;:,./~$@!%^&*|#?`\\]/y

/** The tokens of a .proto file; white space and comments are none. Error: SCHEMA_INVALID, also for a text that does not end. */
export function tokensOf(text: string): string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text)
    // a name is written in one piece
    if (match === null || (/^[\w.]*\.$/.test(match[0]) && !/^\d+\.$/.test(match[0])))
      throw new FrazilError('SCHEMA_INVALID', 'the Protobuf schema cannot be read')
    const [token] = match
    if (!/^\s/.test(token) && !token.startsWith('//') && !token.startsWith('/*')) tokens.push(token)
  }
  return tokens
}

/** `a = 1;` or `message A { … }`; a block that is a value (`option (x) = { … };`) is part of its statement. */
export interface Statement {
  readonly tokens: readonly string[]
  readonly block: readonly Statement[] | null
}

/** Statements with their blocks. Error: SCHEMA_INVALID for braces that do not match. */
export function statementsOf(text: string): Statement[] {
  const tokens = tokensOf(text)
  let at = 0
  const read = (depth: number): Statement[] => {
    if (depth > DEPTH_MAX) throw new FrazilError('SCHEMA_INVALID', `the schema is nested more than ${DEPTH_MAX} levels deep`)
    const statements: Statement[] = []
    let current: string[] = []
    let values = 0
    for (; at < tokens.length; at++) {
      const token = tokens[at]
      if (token === '[' || (token === '{' && (values > 0 || current.includes('=')))) values++
      if (values > 0) {
        current.push(token)
        if (token === ']' || token === '}') values--
      } else if (token === ';') {
        if (current.length > 0) statements.push({ tokens: current, block: null })
        current = []
      } else if (token === '{') {
        at++
        statements.push({ tokens: current, block: read(depth + 1) })
        current = []
      } else if (token === '}') {
        if (depth === 0 || current.length > 0) throw new FrazilError('SCHEMA_INVALID', 'the braces of the Protobuf schema do not match')
        return statements
      } else current.push(token)
    }
    if (depth > 0 || current.length > 0) throw new FrazilError('SCHEMA_INVALID', 'the Protobuf schema ends in the middle of a statement')
    return statements
  }
  return read(0)
}

/** One way of writing: a statement a line, two spaces a level. */
export function writeStatements(statements: readonly Statement[], indent = ''): string {
  let out = ''
  for (const { tokens, block } of statements) {
    const line = `${indent}${joinTokens(tokens)}`
    if (block === null) out += `${line};\n`
    else if (block.length === 0) out += `${line} {}\n`
    else out += `${line} {\n${writeStatements(block, `${indent}  `)}${indent}}\n`
  }
  return out
}

const NO_SPACE_BEFORE: ReadonlySet<string> = new Set([',', ';', ')', ']', '>', ':', '.'])
const NO_SPACE_AFTER: ReadonlySet<string> = new Set(['(', '[', '<', '-', '+', '.'])

function joinTokens(tokens: readonly string[]): string {
  let out = ''
  tokens.forEach((token, i) => {
    const before = tokens[i - 1]
    const tight =
      before === undefined ||
      NO_SPACE_BEFORE.has(token) ||
      NO_SPACE_AFTER.has(before) ||
      (token === '<' && before === 'map') ||
      // (custom).option and Foo(rpc)
      (before === ')' && token.startsWith('.')) ||
      (token === '(' && tokens[0] === 'rpc' && i === 2)
    out += tight ? token : ` ${token}`
  })
  return out
}
