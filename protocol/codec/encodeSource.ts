import { fixedBytes } from './plan.ts'
import type { Plan, PlanField } from './plan.ts'

/**
 * The source of a flat encoder `(m, w) => void` for one version of one message. `w` is a Writer; b and p mirror its buffer and position
 * between calls into it. A field left undefined is its default; a field that the version lacks must have its default or be ignorable.
 */
export function encodeSource(plan: Plan): string {
  const out = new EncodeEmitter()
  out.struct(plan, 'm', '')
  return `let b = w.buf, p = w.at, n = 0, h = 0, l = 0\n${out.code}w.at = p`
}

class EncodeEmitter {
  code = ''
  #variables = 0

  #fresh(): string {
    return `v${this.#variables++}`
  }

  #line(text: string): void {
    this.code += text + '\n'
  }

  struct(plan: Plan, source: string, path: string): void {
    this.#line(`if (${source} === null || typeof ${source} !== 'object') w.notA('object', '${path || 'the message'}', ${source})`)
    for (const field of plan.fields) {
      if (field.place !== 'absent' || field.ignorable) continue
      this.#line(`if (!(${isDefault(field, `${source}.${field.name}`)})) w.absent('${field.path}')`)
    }
    const body = plan.fields.filter((field) => field.place === 'body')
    for (let i = 0; i < body.length;) {
      let run = i
      while (run < body.length && fixedBytes(body[run].type) > 0) run++
      if (run > i) this.#fixedRun(body.slice(i, run), source)
      else this.#value(body[run], `${source}.${body[run++].name}`)
      i = run
    }
    if (plan.flexible) this.#tagSection(plan, source, path)
  }

  #room(bytes: string | number): void {
    this.#line(`if (p + ${bytes} > b.length) { w.at = p; w.grow(${bytes}); b = w.buf; p = w.at }`)
  }

  /** Code that calls a method of the writer which moves its position. */
  #call(call: string): void {
    this.#line(`w.at = p; ${call}; b = w.buf; p = w.at`)
  }

  #uvarint(value: string): void {
    this.#room(5)
    this.#line(`n = ${value}`)
    this.#line('if (n < 128) b[p++] = n')
    this.#line('else p = w.uvarint(b, p, n)')
  }

  #length(compact: boolean, value: string, isNull = false): void {
    if (compact) return isNull ? this.#fixedBytes([0]) : this.#uvarint(`${value} + 1`)
    if (isNull) return this.#fixedBytes([255, 255, 255, 255])
    this.#room(4)
    this.#line(`n = ${value}; b[p] = n >> 24; b[p + 1] = n >> 16; b[p + 2] = n >> 8; b[p + 3] = n; p += 4`)
  }

  #fixedBytes(bytes: readonly number[]): void {
    this.#room(bytes.length)
    this.#line(bytes.map((byte) => `b[p++] = ${byte}`).join('; '))
  }

  /** Fields of fixed size in a row: one check of the room for all of them. */
  #fixedRun(fields: readonly PlanField[], source: string): void {
    const total = fields.reduce((sum, field) => sum + fixedBytes(field.type), 0)
    this.#room(total)
    let offset = 0
    for (const field of fields) {
      const name = this.#fresh()
      this.#line(`let ${name} = ${source}.${field.name}`)
      this.#fixed(field, name, offset)
      offset += fixedBytes(field.type)
    }
    this.#line(`p += ${total}`)
  }

  /** Emits the writing of the variable `name` at p + offset, where there is room. */
  #fixed(field: PlanField, name: string, offset: number): void {
    const size = fixedBytes(field.type)
    const fallback = JSON.stringify(field.default)
    const bytes = (value: string, count: number, at = offset): string =>
      Array.from({ length: count }, (_, i) => `b[p + ${at + i}] = ${value}${i + 1 < count ? ` >> ${8 * (count - 1 - i)}` : ''}`).join('; ')
    if (field.type === 'int64') {
      this.#line(`h = Math.floor(${name} / 4294967296); l = ${name} | 0`)
      this.#line(`if (h * 4294967296 + (l >>> 0) !== ${name} || h > 2147483647 || h < -2147483648) {`)
      this.#line(`w.int64(${name}, ${fallback}, '${field.path}'); h = w.hi; l = w.lo }`)
      this.#line(`${bytes('h', 4)}; ${bytes('l', 4, offset + 4)}`)
      return
    }
    if (field.type === 'bool' || field.type === 'float64' || field.type === 'uuid') {
      this.#line(`if (${name} === undefined) ${name} = ${fallback}`)
      if (field.type === 'uuid') return this.#line(`w.uuid(b, p + ${offset}, ${name}, '${field.path}')`)
      const type = field.type === 'bool' ? 'boolean' : 'number'
      this.#line(`if (typeof ${name} !== '${type}') w.notA('${type}', '${field.path}', ${name})`)
      return this.#line(type === 'boolean' ? `b[p + ${offset}] = ${name} ? 1 : 0` : `b.writeDoubleBE(${name}, p + ${offset})`)
    }
    const signed = !field.type.startsWith('u')
    const shift = 32 - 8 * size
    const wrapped = shift === 0 ? `${name} ${signed ? '| 0' : '>>> 0'}` : `${name} << ${shift} ${signed ? '>>' : '>>>'} ${shift}`
    const [min, max] = signed ? [-(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1] : [0, 2 ** (8 * size) - 1]
    this.#line(`if ((${wrapped}) !== ${name}) ${name} = w.number(${name}, ${fallback}, ${min}, ${max}, '${field.path}')`)
    this.#line(bytes(name, size))
  }

  /** Emits the writing of one field or element that is read from the expression `source`. */
  #value(field: PlanField, source: string): void {
    const name = this.#fresh()
    this.#line(`let ${name} = ${source}`)
    const size = fixedBytes(field.type)
    if (size > 0) {
      this.#room(size)
      this.#fixed(field, name, 0)
      return this.#line(`p += ${size}`)
    }
    this.#line(`if (${name} === undefined) ${name} = ${defaultLiteral(field)}`)
    this.#line(`if (${name} === null) {`)
    if (field.nullable) this.#null(field)
    else this.#line(`w.isNull('${field.path}')`)
    this.#line('} else {')
    this.#notNull(field, name)
    this.#line('}')
  }

  #null(field: PlanField): void {
    if (field.type === 'struct') this.#fixedBytes([255])
    else if (field.type === 'string' && !field.compact) this.#fixedBytes([255, 255])
    else this.#length(field.compact, '', true)
  }

  #notNull(field: PlanField, name: string): void {
    const path = `'${field.path}'`
    switch (field.type) {
      case 'struct':
        if (field.nullable) this.#fixedBytes([1])
        return this.struct(field.struct as Plan, name, field.path)
      case 'string':
        this.#line(`if (typeof ${name} !== 'string') w.notA('string', ${path}, ${name})`)
        this.#room(`${name}.length * 3 + 5`)
        return this.#line(`p = w.${field.compact ? 'compactText' : 'text'}(b, p, ${name}, ${path})`)
      case 'bytes':
        this.#line(`if (!(${name} instanceof Uint8Array)) w.notA('Uint8Array', ${path}, ${name})`)
        this.#length(field.compact, `${name}.length`)
        return this.#call(`w.copy(${name})`)
      case 'records': {
        const total = this.#fresh()
        this.#line(`const ${total} = w.slicesBytes(${name}); w.length(${total}, ${path})`)
        this.#length(field.compact, total)
        return this.#call(`w.slices(${name})`)
      }
      case 'array':
        return this.#array(field, name)
      default:
        throw new Error(`${field.path} has a type of fixed size`)
    }
  }

  #array(field: PlanField, name: string): void {
    const [index, element] = [this.#fresh(), this.#fresh()]
    this.#line(`if (!Array.isArray(${name})) w.notA('array', '${field.path}', ${name})`)
    this.#length(field.compact, `${name}.length`)
    this.#line(`for (let ${index} = 0; ${index} < ${name}.length; ${index}++) {`)
    this.#line(`const ${element} = ${name}[${index}]`)
    if (field.struct) this.struct(field.struct, element, field.path)
    else this.#value({ ...field, type: field.of as PlanField['type'], nullable: false, default: undefined }, element)
    this.#line('}')
  }

  #tagSection(plan: Plan, source: string, path: string): void {
    const unknown = this.#fresh()
    const flags = plan.tagged.map((field) => ({ field, flag: this.#fresh() }))
    this.#line(`const ${unknown} = ${source}.unknownTags`)
    for (const { field, flag } of flags) this.#line(`const ${flag} = ${isDefault(field, `${source}.${field.name}`)} ? 0 : 1`)
    const known = flags.map(({ flag }) => flag).join(' + ') || '0'
    this.#uvarint(`${known} + (${unknown} === undefined ? 0 : ${unknown}.length)`)
    const next = this.#fresh()
    this.#line(`let ${next} = 0`)
    for (const { field, flag } of flags) {
      this.#line(`if (${flag}) {`)
      this.#line(
        `if (${unknown} !== undefined) { w.at = p; ${next} = w.unknownTags(${unknown}, ${next}, ${field.tag}); b = w.buf; p = w.at }`,
      )
      this.#uvarint(String(field.tag))
      this.#tagged(field, `${source}.${field.name}`)
      this.#line('}')
    }
    this.#line(`if (${unknown} !== undefined) {`)
    this.#call(`w.unknownTags(${unknown}, ${next}, Infinity)`)
    this.#line(`} // ${path}`)
  }

  /** The size and value of a tagged field: one byte is left free for the size, which endTagged fills in. */
  #tagged(field: PlanField, source: string): void {
    if (field.type === 'records') throw new Error(`${field.path}: records in a tagged field would split it over chunks`)
    const mark = this.#fresh()
    this.#room(1)
    this.#line(`const ${mark} = p++ - w.start`)
    this.#value(field, source)
    this.#call(`w.endTagged(${mark})`)
  }
}

/** An expression: whether the value at `source` is the field's default, or left out. */
function isDefault(field: PlanField, source: string): string {
  const unset = `${source} === undefined`
  if (field.default !== undefined) return `(${unset} || ${source} === ${JSON.stringify(field.default)})`
  if (field.type !== 'struct') return `(${unset} || (${source} !== null && ${source}.length === 0))`
  const inner = (field.struct as Plan).fields.map((nested) => isDefault(nested, `${source}.${nested.name}`))
  return `(${unset} || (${source} !== null && ${[...inner, `${source}.unknownTags === undefined`].join(' && ')}))`
}

/** The default of a field whose size is not fixed, for the writer. */
function defaultLiteral(field: PlanField): string {
  if (field.default !== undefined) return JSON.stringify(field.default)
  return field.type === 'struct' ? '{}' : field.type === 'bytes' ? 'new Uint8Array(0)' : '[]'
}
