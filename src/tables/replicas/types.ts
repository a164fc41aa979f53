/** An Iceberg type of any version of ours or of others, as table metadata spells it (Iceberg spec, Appendix C). */
export type AnyType = string | AnyList | AnyMap | AnyStruct

export interface AnyList {
  readonly type: 'list'
  readonly 'element-id': number
  readonly element: AnyType
  readonly 'element-required': boolean
}

export interface AnyMap {
  readonly type: 'map'
  readonly 'key-id': number
  readonly key: AnyType
  readonly 'value-id': number
  readonly value: AnyType
  readonly 'value-required': boolean
}

export interface AnyStruct {
  readonly type: 'struct'
  readonly fields: readonly AnyField[]
}

export interface AnyField {
  readonly id: number
  readonly name: string
  readonly required: boolean
  readonly type: AnyType
  readonly doc?: string
}

/** The highest field id in a list of fields, nested ones included. */
export function highestId(fields: readonly AnyField[]): number {
  let highest = 0
  const see = (id: number, type: AnyType): void => {
    highest = Math.max(highest, id)
    if (typeof type === 'string') return
    if (type.type === 'struct') for (const field of type.fields) see(field.id, field.type)
    else if (type.type === 'list') see(type['element-id'], type.element)
    else {
      see(type['key-id'], type.key)
      see(type['value-id'], type.value)
    }
  }
  for (const field of fields) see(field.id, field.type)
  return highest
}
