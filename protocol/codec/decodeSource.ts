import { fixedBytes, minBytes } from './plan.ts'
import type { Plan, PlanField } from './plan.ts'
import { MAX_MESSAGE_ELEMENTS } from './read.ts'

/**
 * The source of a flat decoder `(b, p, end, r) => message` for one version of one message: straight-line code over local variables, one
 * object literal per struct (every field of the definition, so that all versions of a message share one shape). `r` is a Reader; on return
 * `r.at` is the position after the message.
 */
export function decodeSource(plan: Plan): string {
  const out = new DecodeEmitter()
  const result = out.struct(plan, '')
  return `let n = 0, t = 0, e = 0\nr.elementsLeft = ${MAX_MESSAGE_ELEMENTS}\n${out.code}r.at = p\nreturn ${result}`
}

class DecodeEmitter {
  code = ''
  #variables = 0
  /** The name of the variable that bounds reading: of the message, or of the tagged field inside which we are. */
  #end = 'end'

  #fresh(): string {
    return `v${this.#variables++}`
  }

  #line(text: string): void {
    this.code += text + '\n'
  }

  /** Emits the reading of a struct; gives the name of the variable that holds it. */
  struct(plan: Plan, path: string): string {
    const values = new Map<PlanField, string>()
    const body = plan.fields.filter((field) => field.place === 'body')
    for (let i = 0; i < body.length;) {
      let run = i
      while (run < body.length && fixedBytes(body[run].type) > 0) run++
      if (run > i) this.#fixedRun(body.slice(i, run), values)
      else values.set(body[run], this.#value(body[run++]))
      i = run
    }
    for (const field of plan.fields) {
      if (field.place === 'body') continue
      const name = this.#fresh()
      this.#line(`let ${name} = ${defaultLiteral(field)}`)
      values.set(field, name)
    }
    const unknown = plan.flexible ? this.#tagSection(plan, values, path) : ''
    const name = this.#fresh()
    this.#line(`const ${name} = { ${plan.fields.map((field) => `${field.name}: ${values.get(field)}`).join(', ')} }`)
    if (unknown) this.#line(`if (${unknown} !== undefined) ${name}.unknownTags = ${unknown}`)
    return name
  }

  /** Fields of fixed size in a row: one bounds check for all of them. */
  #fixedRun(fields: readonly PlanField[], values: Map<PlanField, string>): void {
    const total = fields.reduce((sum, field) => sum + fixedBytes(field.type), 0)
    this.#need(String(total), fields[0].path)
    let offset = 0
    for (const field of fields) {
      const name = this.#fresh()
      this.#line(`const ${name} = ${fixedRead(field.type, offset)}`)
      values.set(field, name)
      offset += fixedBytes(field.type)
    }
    this.#line(`p += ${total}`)
  }

  #need(bytes: string, path: string): void {
    this.#line(`if (p + ${bytes} > ${this.#end}) r.short('${path}', ${bytes}, ${this.#end} - p)`)
  }

  /** Reads a varint into the variable `into`. */
  #uvarint(into: string, path: string): void {
    this.#need('1', path)
    this.#line(`${into} = b[p++]`)
    this.#line(`if (${into} > 127) { ${into} = r.uvarint(b, p - 1, ${this.#end}, '${path}'); p = r.at }`)
  }

  /** Reads the length prefix of a string, bytes, records or array into n: -1 for null. */
  #length(field: PlanField): void {
    if (field.compact) {
      this.#uvarint('n', field.path)
      this.#line('n--')
    } else {
      const size = field.type === 'string' ? 2 : 4
      this.#need(String(size), field.path)
      this.#line(`n = ${fixedRead(size === 2 ? 'int16' : 'int32', 0)}; p += ${size}`)
    }
  }

  #value(field: PlanField): string {
    const name = this.#fresh()
    this.#line(`let ${name}`)
    this.#assign(field, name)
    return name
  }

  /** Emits the reading of one field into the declared variable `name`. */
  #assign(field: PlanField, name: string): void {
    const size = fixedBytes(field.type)
    if (size > 0) {
      this.#need(String(size), field.path)
      this.#line(`${name} = ${fixedRead(field.type, 0)}; p += ${size}`)
      return
    }
    if (field.type === 'struct') return this.#nestedStruct(field, name)
    this.#length(field)
    this.#line(`if (n < 0) ${field.nullable ? `${name} = null` : `r.isNull('${field.path}')`}`)
    this.#line('else {')
    if (field.type === 'array') {
      this.#array(field, name)
    } else {
      this.#need('n', field.path)
      this.#line(`${name} = ${field.type === 'string' ? 'r.text(b, p, p + n)' : 'b.subarray(p, p + n)'}; p += n`)
    }
    this.#line('}')
  }

  /** A nullable struct is prefixed by one byte, negative for null. */
  #nestedStruct(field: PlanField, name: string): void {
    if (field.nullable) {
      this.#need('1', field.path)
      this.#line(`if (b[p++] > 127) ${name} = null`)
      this.#line('else {')
    } else {
      this.#line('{')
    }
    this.#line(`${name} = ${this.struct(field.struct as Plan, field.path)}`)
    this.#line('}')
  }

  #array(field: PlanField, name: string): void {
    const element: PlanField = { ...field, type: field.of ?? 'struct', nullable: false }
    const min = Math.max(1, minBytes(element.type, field.compact, field.struct))
    const [count, index] = [this.#fresh(), this.#fresh()]
    this.#line(`const ${count} = n`)
    this.#line(`r.count(${count}, ${min}, ${this.#end} - p, '${field.path}')`)
    this.#line(`${name} = []`)
    this.#line(`for (let ${index} = 0; ${index} < ${count}; ${index}++) {`)
    this.#line(`${name}.push(${field.struct ? this.struct(field.struct, field.path) : this.#value(element)})`)
    this.#line('}')
  }

  /** The tagged section of a struct; gives the variable that holds unknown fields, or undefined. */
  #tagSection(plan: Plan, values: Map<PlanField, string>, path: string): string {
    const unknown = this.#fresh()
    const where = path || 'the message'
    this.#line(`let ${unknown}`)
    this.#need('1', where)
    this.#line('if (b[p] === 0) p++')
    if (plan.tagged.length === 0) {
      this.#line(`else { ${unknown} = r.unknownTags(b, p, ${this.#end}, '${where}'); p = r.at }`)
      return unknown
    }
    const [count, index, fieldEnd] = [this.#fresh(), this.#fresh(), this.#fresh()]
    this.#line('else {')
    this.#uvarint('n', where)
    this.#line(`const ${count} = n; r.tagCount(${count}, '${where}')`)
    this.#line(`for (let ${index} = 0; ${index} < ${count}; ${index}++) {`)
    this.#uvarint('t', where)
    this.#uvarint('e', where)
    this.#need('e', where)
    this.#line(`const ${fieldEnd} = p + e`)
    this.#line('switch (t) {')
    const outerEnd = this.#end
    for (const field of plan.tagged) {
      this.#line(`case ${field.tag}: {`)
      this.#end = fieldEnd
      this.#assign(field, values.get(field) as string)
      this.#end = outerEnd
      this.#line(`if (p !== ${fieldEnd}) r.tagSize('${field.path}')`)
      this.#line('break }')
    }
    this.#line(`default: (${unknown} ??= []).push(r.unknownTag(b, p, ${outerEnd}, t, e, '${where}')); p = ${fieldEnd}`)
    this.#line('} } }')
    return unknown
  }
}

/** An expression that reads a scalar of fixed size at p + offset. */
function fixedRead(type: PlanField['type'], offset: number): string {
  const byte = (i: number): string => (offset + i === 0 ? 'b[p]' : `b[p + ${offset + i}]`)
  const int32 = (i: number): string => `(${byte(i)} << 24 | ${byte(i + 1)} << 16 | ${byte(i + 2)} << 8 | ${byte(i + 3)})`
  switch (type) {
    case 'bool':
      return `${byte(0)} !== 0`
    case 'int8':
      return `${byte(0)} << 24 >> 24`
    case 'int16':
      return `(${byte(0)} << 24 | ${byte(1)} << 16) >> 16`
    case 'uint16':
      return `${byte(0)} << 8 | ${byte(1)}`
    case 'int32':
      return int32(0)
    case 'uint32':
      return `${int32(0)} >>> 0`
    case 'int64':
      return `${int32(0)} * 4294967296 + (${int32(4)} >>> 0)`
    case 'float64':
      return `b.readDoubleBE(p + ${offset})`
    case 'uuid':
      return `r.uuid(b, p + ${offset})`
    default:
      throw new Error(`${type} has no fixed size`)
  }
}

/** The default of a field as a fresh value. */
function defaultLiteral(field: PlanField): string {
  if (field.default !== undefined) return JSON.stringify(field.default)
  if (field.type === 'array') return '[]'
  if (field.type === 'bytes') return 'r.empty'
  return `{ ${(field.struct as Plan).fields.map((inner) => `${inner.name}: ${defaultLiteral(inner)}`).join(', ')} }`
}
