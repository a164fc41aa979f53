import { type AvroNode, type EnumNode, type FieldNode, fullName, isNamed, type Named, type RecordNode } from './node.ts'

/** Which primitive a reader may have where the writer had another (specification, "Schema Resolution": promotions). */
const PROMOTIONS: Readonly<Record<string, readonly string[]>> = {
  int: ['long', 'float', 'double'],
  long: ['float', 'double'],
  float: ['double'],
  string: ['bytes'],
  bytes: ['string'],
}

/**
 * What keeps `reader` from reading what `writer` wrote (specification, "Schema Resolution"): a sentence each, with the
 * place in the reader's schema. Aliases of the reader count, for types and for fields.
 */
export function avroUnreadable(reader: AvroNode, writer: AvroNode): string[] {
  const problems: string[] = []
  compare(reader, writer, '', new Map(), problems)
  return problems
}

/** `done` has the pairs of named types that were compared or are being compared: recursive schemas end there. */
function compare(reader: AvroNode, writer: AvroNode, path: string, done: Map<Named, Set<Named>>, problems: string[]): void {
  const fail = (type: string, sentence: string): void => void problems.push(`${type} at ${path === '' ? '/' : path}: ${sentence}`)
  if (writer.kind === 'union') {
    // every branch that may have been written must be readable
    writer.branches.forEach((branch) => compare(reader, branch, path, done, problems))
    return
  }
  if (reader.kind === 'union') {
    const readable = reader.branches.some((branch) => {
      const attempt: string[] = []
      compare(branch, writer, path, copyOf(done), attempt)
      return attempt.length === 0
    })
    if (!readable) fail('MISSING_UNION_BRANCH', `the reader's union has no branch for the writer's ${describe(writer)}`)
    return
  }
  if (isNamed(reader) && isNamed(writer)) {
    const seen = done.get(reader)
    if (seen?.has(writer)) return
    if (seen === undefined) done.set(reader, new Set([writer]))
    else seen.add(writer)
    if (reader.kind === writer.kind && !sameName(reader, writer)) {
      // what they hold does not matter then, and looking at it in unions of unions would have no end
      return fail('NAME_MISMATCH', `the writer's ${fullName(writer)} is not the reader's ${fullName(reader)}`)
    }
  }
  if (reader.kind === 'record' && writer.kind === 'record') compareRecords(reader, writer, path, done, problems)
  else if (reader.kind === 'enum' && writer.kind === 'enum') compareEnums(reader, writer, path, problems)
  else if (reader.kind === 'fixed' && writer.kind === 'fixed') {
    if (reader.size !== writer.size) fail('FIXED_SIZE_MISMATCH', `the writer has ${writer.size} bytes, the reader ${reader.size}`)
  } else if (reader.kind === 'array' && writer.kind === 'array') compare(reader.items, writer.items, `${path}/items`, done, problems)
  else if (reader.kind === 'map' && writer.kind === 'map') compare(reader.items, writer.items, `${path}/values`, done, problems)
  else if (reader.kind !== writer.kind && !PROMOTIONS[writer.kind]?.includes(reader.kind))
    fail('TYPE_MISMATCH', `the reader's ${describe(reader)} cannot be read from the writer's ${describe(writer)}`)
}

function compareRecords(reader: RecordNode, writer: RecordNode, path: string, done: Map<Named, Set<Named>>, problems: string[]): void {
  reader.fields.forEach((field, i) => {
    const written = writerField(field, writer)
    const at = `${path}/fields/${i}`
    if (written !== undefined) compare(field.type, written.type, `${at}/type`, done, problems)
    else if (field.default === undefined)
      problems.push(
        `READER_FIELD_MISSING_DEFAULT_VALUE at ${at}: the writer has no field "${field.name}", and the reader's has no default value`,
      )
  })
}

function writerField(field: FieldNode, writer: RecordNode): FieldNode | undefined {
  return writer.fields.find(({ name }) => name === field.name) ?? writer.fields.find(({ name }) => field.aliases.includes(name))
}

function compareEnums(reader: EnumNode, writer: EnumNode, path: string, problems: string[]): void {
  if (reader.default !== undefined) return
  const missing = writer.symbols.filter((symbol) => !reader.symbols.includes(symbol))
  if (missing.length > 0)
    problems.push(`MISSING_ENUM_SYMBOLS at ${path}/symbols: the reader has no symbol ${missing.join(', ')}, and no default`)
}

/** By unqualified name (specification: "both schemas are … with the same (unqualified) name"), or an alias of the reader. */
function sameName(reader: Named, writer: Named): boolean {
  if (reader.name === writer.name) return true
  const full = fullName(writer)
  return reader.aliases.some((alias) => {
    const qualified = alias.includes('.') || reader.namespace === '' ? alias : `${reader.namespace}.${alias}`
    return qualified === full
  })
}

const describe = (node: AvroNode): string => (isNamed(node) ? `${node.kind} ${fullName(node)}` : node.kind)

function copyOf(done: Map<Named, Set<Named>>): Map<Named, Set<Named>> {
  return new Map([...done].map(([reader, writers]) => [reader, new Set(writers)]))
}
