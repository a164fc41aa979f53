import protobuf from 'protobufjs'

/**
 * Parses a schema text. int64 fields are JS numbers everywhere (exact within ±2^53), so protobufjs must not find a Long
 * class; that switch is the library's and holds for the process.
 */
export function loadSchema(text: string): protobuf.Root {
  if (protobuf.util.Long as unknown) {
    ;(protobuf.util as { Long: unknown }).Long = undefined
    protobuf.configure()
  }
  const { root } = protobuf.parse(text)
  root.resolveAll()
  return root
}
