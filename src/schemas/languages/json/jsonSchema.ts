import { Ajv, type AnySchema, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import draft6 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' }
import { FrazilError } from '../../../base/errors.ts'
import type { Language, ParsedSchema } from '../language.ts'
import { isObject, plain, sorted } from '../losslessJson.ts'
import { Comparison } from './compatibility.ts'
import { Documents } from './documents.ts'

/** JSON Schema: draft 4 to 2020-12, draft 7 unless `$schema` says otherwise; ajv checks it against the draft's own schema. */
export const json: Language = {
  type: 'JSON',
  parse(text, references) {
    const documents = new Documents(text, references)
    if (typeof documents.root !== 'boolean' && !isObject(documents.root))
      throw new FrazilError('SCHEMA_INVALID', 'a JSON Schema is an object, true or false')
    validate(plain(documents.root) as AnySchema)
    return new JsonSchema(documents)
  },
}

class JsonSchema implements ParsedSchema {
  readonly type = 'JSON'
  readonly canonical: string
  readonly documents: Documents

  constructor(documents: Documents) {
    this.documents = documents
    this.canonical = JSON.stringify(documents.root)
  }

  normalized(): string {
    return JSON.stringify(sorted(this.documents.root))
  }

  unreadable(writer: ParsedSchema): string[] {
    const { documents } = writer as JsonSchema
    return new Comparison(documents, this.documents).attempt(documents.root, this.documents.root, '').found
  }
}

const OPTIONS: Options = { strict: false, validateFormats: false, logger: false, addUsedSchema: false }

/** Made when the first schema of a draft comes. */
const validators = new Map<string, Ajv>()

function validatorOf(draft: string): Ajv {
  let ajv = validators.get(draft)
  if (ajv === undefined) {
    ajv = draft === '2019-09' ? new Ajv2019(OPTIONS) : draft === '2020-12' ? new Ajv2020(OPTIONS) : new Ajv(OPTIONS)
    if (draft === 'draft-06') ajv.addMetaSchema(draft6)
    validators.set(draft, ajv)
  }
  return ajv
}

function validate(schema: AnySchema): void {
  const declared = typeof schema === 'boolean' ? undefined : (schema as { $schema?: unknown }).$schema
  const draft = (typeof declared === 'string' && /draft-0\d|20\d\d-\d\d/.exec(declared)?.[0]) || 'draft-07'
  // ajv has no schema of draft 4, and what draft 7 changed would be called wrong
  if (draft === 'draft-03' || draft === 'draft-04') return
  const known = ['draft-06', 'draft-07', '2019-09', '2020-12'].includes(draft)
  const ajv = validatorOf(known ? draft : 'draft-07')
  const checked = known || typeof schema === 'boolean' ? schema : { ...schema, $schema: undefined }
  const valid = ajv.validateSchema(checked)
  if (valid !== true)
    throw new FrazilError('SCHEMA_INVALID', `the JSON Schema is not valid: ${ajv.errorsText(ajv.errors, { dataVar: '#' })}`)
}
