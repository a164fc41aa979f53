import type { FastifyReply } from 'fastify'
import { FrazilError, hasCode } from '../../base/errors.ts'
import type { SchemaContentView, SchemaVersion } from '../../metadata/view.ts'
import type { SchemaBody } from '../registry/body.ts'
import { RegistryError } from '../registry/errors.ts'
import { formatSubject, type SubjectName } from '../registry/names.ts'
import type { SchemaRegistry } from '../registry/registry.ts'

/** The fields of a schema as the API has them: Avro is what it is when no type is named. */
export function bodyFields({ type, schema, references, metadata, ruleSet }: SchemaBody): Record<string, unknown> {
  return {
    ...(type === 'AVRO' ? {} : { schemaType: type }),
    ...(references.length === 0 ? {} : { references }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(ruleSet === undefined ? {} : { ruleSet }),
    schema,
  }
}

/** The body in the form that is asked for: `serialized` is the descriptor of a Protobuf schema. */
export async function formatted(registry: SchemaRegistry, content: SchemaContentView, format: string | undefined): Promise<SchemaBody> {
  const body = registry.store.body(content)
  if (format !== 'serialized' || body.type !== 'PROTOBUF') return body
  const references = registry.store.resolve(body.references, content.context)
  return { ...body, schema: await registry.checks.serialized({ type: body.type, schema: body.schema, references }) }
}

export async function versionAnswer(
  registry: SchemaRegistry,
  name: SubjectName,
  version: SchemaVersion,
  format?: string,
): Promise<Record<string, unknown>> {
  const content = registry.store.contentOf(name, version)
  const { id, guid } = content
  return {
    subject: formatSubject(name),
    version: version.version,
    id,
    guid,
    ...bodyFields(await formatted(registry, content, format)),
    ...(version.deleted ? { deleted: true } : {}),
  }
}

/** A schema's text, as it is. */
export function sendText(reply: FastifyReply, schema: string): FastifyReply {
  return reply.type('application/vnd.schemaregistry.v1+json').send(schema)
}

/** The answer to an error. */
export function errorAnswer(error: unknown): {
  readonly status: number
  readonly body: { readonly error_code: number; readonly message: string }
} {
  const answer = (status: number, code: number, message: string) => ({ status, body: { error_code: code, message } })
  if (error instanceof RegistryError) return answer(error.status, error.errorCode, error.message)
  if (hasCode(error, 'SCHEMA_INVALID')) return answer(422, 42201, `Invalid schema: ${error.message}`)
  if (error instanceof FrazilError) {
    if (error.code === 'LOG_UNAVAILABLE') return answer(500, 50001, 'it is not known whether the change was written: look, and try again')
    if (error.code === 'CLOSED' || error.code === 'FENCED') return answer(503, 50301, 'the broker is shutting down')
    return answer(500, 50001, error.code === 'CORRUPT' ? error.message : 'the metadata log cannot be written now: try again')
  }
  const { statusCode, message } = error as { statusCode?: number; message: string }
  if (statusCode === 413) return answer(422, 42209, 'the request is too large: the limit of a schema is 10 MiB')
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return answer(statusCode, statusCode, message)
  return answer(500, 500, 'Internal Server Error')
}
