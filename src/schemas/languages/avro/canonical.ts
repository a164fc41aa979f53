import { type Json, sorted } from '../losslessJson.ts'
import { type AvroNode, type FieldNode, fullName, isNamed, type Named, PRIMITIVES, type Props } from './node.ts'

/**
 * Writes the graph as Avro's own libraries do: attributes in one order, a name once with its declaration and bare after it,
 * a namespace only where it is another one than around it. `normalize` sorts what has no order: other attributes.
 */
export function writeAvro(root: AvroNode, known: ReadonlySet<Named>, normalize: boolean): string {
  const written = new Set(known)
  const props = (from: Props): Record<string, Json> =>
    Object.fromEntries(
      normalize ? from.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, sorted(value)] as const) : from,
    )

  const write = (node: AvroNode, space: string): Json => {
    if (node.kind === 'union') return node.branches.map((branch) => write(branch, space))
    if (!isNamed(node)) {
      if (node.kind === 'array') return { type: 'array', items: write(node.items, space), ...props(node.props) }
      if (node.kind === 'map') return { type: 'map', values: write(node.items, space), ...props(node.props) }
      return node.props.length === 0 ? node.kind : { type: node.kind, ...props(node.props) }
    }
    if (written.has(node)) return reference(node, space)
    written.add(node)
    const { name, namespace, doc, aliases } = node
    return {
      type: node.kind === 'record' && node.isError ? 'error' : node.kind,
      name,
      ...(namespace === space ? {} : { namespace }),
      ...(doc === undefined ? {} : { doc }),
      ...(node.kind === 'record' ? { fields: node.fields.map((field) => writeField(field, namespace)) } : {}),
      ...(node.kind === 'enum' ? { symbols: node.symbols, ...(node.default === undefined ? {} : { default: node.default }) } : {}),
      ...(node.kind === 'fixed' ? { size: node.size } : {}),
      ...props(node.props),
      ...(aliases.length === 0 ? {} : { aliases: normalize ? aliases.toSorted() : aliases }),
    }
  }
  const writeField = (field: FieldNode, space: string): Json => ({
    name: field.name,
    type: write(field.type, space),
    ...(field.doc === undefined ? {} : { doc: field.doc }),
    ...(field.default === undefined ? {} : { default: field.default }),
    ...(field.order === 'ascending' ? {} : { order: field.order }),
    ...(field.aliases.length === 0 ? {} : { aliases: normalize ? field.aliases.toSorted() : field.aliases }),
    ...props(field.props),
  })
  return JSON.stringify(write(root, ''))
}

/** Bare where the namespace around it is its own. */
function reference(node: Named, space: string): string {
  const bare = node.namespace === space && !(PRIMITIVES as readonly string[]).includes(node.name)
  return bare ? node.name : fullName(node)
}
