import protobuf, { type Enum, type Root, type Service, type Type } from 'protobufjs'
import { FrazilError } from '../../../base/errors.ts'
import type { ResolvedReference } from '../../source.ts'
import { builtin } from './builtin.ts'
import { type Statement, statementsOf } from './text.ts'

export interface ProtoImport {
  readonly name: string
  readonly kind: '' | 'public' | 'weak'
}

/** A .proto file with everything that it imports, resolved. */
export interface ProtoFile {
  /** '' for none. */
  readonly package: string
  readonly imports: readonly ProtoImport[]
  /** proto2, proto3, or an edition. */
  readonly syntax: string
  readonly statements: readonly Statement[]
  readonly messages: readonly Type[]
  readonly enums: readonly Enum[]
  readonly services: readonly Service[]
}

const invalid = (sentence: string, cause?: unknown): FrazilError => new FrazilError('SCHEMA_INVALID', sentence, cause)

/** Error: SCHEMA_INVALID, also for an import that no reference names. */
export function readFile(text: string, references: readonly ResolvedReference[]): ProtoFile {
  const root = new protobuf.Root()
  const texts = new Map(references.map(({ name, schema }) => [name, schema]))
  const loaded = new Set<string>()
  const load = (source: string, name: string): { statements: Statement[]; package: string; imports: ProtoImport[] } => {
    const statements = statementsOf(source)
    checkHead(statements)
    const imports = importsOf(statements)
    for (const { name: imported, kind } of imports) {
      if (loaded.has(imported)) continue
      loaded.add(imported)
      const reference = texts.get(imported)
      const known = reference === undefined ? builtin(imported) : null
      if (reference !== undefined) load(reference, imported)
      else if (known === null) {
        if (kind !== 'weak') throw invalid(`the import "${imported}" is not there: no reference has this name`)
      } else if ('text' in known) load(known.text, imported)
      else addDefinitions(root, known.json, known.imports, loaded)
    }
    try {
      protobuf.parse(source, root, { keepCase: true, alternateCommentMode: false })
    } catch (error) {
      const where = name === '' ? 'the Protobuf schema' : `the reference "${name}"`
      throw invalid(`${where} is not valid: ${(error as Error).message}`, error)
    }
    return {
      statements,
      imports,
      package:
        statements
          .find(({ tokens }) => tokens[0] === 'package')
          ?.tokens.slice(1)
          .join('') ?? '',
    }
  }
  const main = load(text, '')
  try {
    root.resolveAll()
  } catch (error) {
    throw invalid(`the Protobuf schema is not valid: ${(error as Error).message}`, error)
  }
  return { ...main, syntax: syntaxOf(main.statements), ...declared(root, main.package, main.statements) }
}

function addDefinitions(root: Root, json: protobuf.INamespace, imports: readonly string[], loaded: Set<string>): void {
  root.addJSON(json.nested!)
  for (const name of imports) {
    const known = loaded.has(name) ? null : builtin(name)
    loaded.add(name)
    if (known !== null && 'json' in known) addDefinitions(root, known.json, known.imports, loaded)
  }
}

/** Those that the file itself declares, in its order. */
function declared(root: Root, name: string, statements: readonly Statement[]): Pick<ProtoFile, 'messages' | 'enums' | 'services'> {
  const space = name === '' ? root : root.lookup(name.split('.'))
  const messages: Type[] = []
  const enums: Enum[] = []
  const services: Service[] = []
  for (const { tokens, block } of statements) {
    if (block === null || tokens.length !== 2) continue
    const object = space instanceof protobuf.Namespace ? space.get(tokens[1]) : null
    if (tokens[0] === 'message' && object instanceof protobuf.Type) messages.push(object)
    else if (tokens[0] === 'enum' && object instanceof protobuf.Enum) enums.push(object)
    else if (tokens[0] === 'service' && object instanceof protobuf.Service) services.push(object)
  }
  return { messages, enums, services }
}

/** protobufjs passes over some of what makes no sense here. */
function checkHead(statements: readonly Statement[]): void {
  for (const { tokens, block } of statements) {
    const [word] = tokens
    const right =
      block !== null ||
      (word === 'package' ? tokens.length === 2 && /^[\w.]+$/.test(tokens[1]) : word === 'import' ? /^["']/.test(tokens.at(-1)!) : true)
    if (!right || (word === 'option' && !tokens.includes('='))) throw invalid(`the Protobuf schema is not valid: ${tokens.join(' ')}`)
  }
}

function syntaxOf(statements: readonly Statement[]): string {
  const first = statements.find(({ tokens }) => tokens[0] === 'syntax' || tokens[0] === 'edition')
  return first === undefined ? 'proto2' : unquote(first.tokens[2] ?? '')
}

function importsOf(statements: readonly Statement[]): ProtoImport[] {
  return statements
    .filter(({ tokens, block }) => tokens[0] === 'import' && block === null)
    .map(({ tokens }) => ({
      name: unquote(tokens.at(-1)!),
      kind: tokens[1] === 'public' || tokens[1] === 'weak' ? tokens[1] : '',
    }))
}

export const unquote = (token: string): string => token.slice(1, -1)
