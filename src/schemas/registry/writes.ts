import { FrazilError, hasCode } from '../../base/errors.ts'
import type { Command, Result } from '../../metadata/commands.ts'
import type { SchemaSubjectView, SchemaVersion } from '../../metadata/view.ts'
import type { SchemaType } from '../source.ts'
import { encodeBody, guidOf, type Reference, SCHEMA_MAX_BYTES, type SchemaBody } from './body.ts'
import type { SchemaChecks } from './checks.ts'
import {
  badRequest,
  contextNotEmpty,
  incompatible,
  invalidSchema,
  notPermitted,
  referenceExists,
  schemaTooLarge,
  subjectNotFound,
  subjectNotSoftDeleted,
  subjectSoftDeleted,
  unavailable,
  versionNotFound,
  versionNotSoftDeleted,
  versionSoftDeleted,
} from './errors.ts'
import { formatSubject, parseSubject, type SubjectName } from './names.ts'
import { type Config, effectiveConfig, effectiveMode, mergeConfig, type Mode, ownConfig, sameGroup } from './settings.ts'
import type { SchemaStore } from './store.ts'

/** A request to register or look up a schema. */
export interface SchemaRequest {
  readonly type: SchemaType
  readonly schema: string
  readonly references: readonly Reference[]
  readonly metadata?: unknown
  readonly ruleSet?: unknown
  /** Imports only; 0 when it was not given. */
  readonly id: number
  readonly version: number
}

export interface Registered {
  readonly id: number
  readonly version: number
  readonly guid: string
  readonly body: SchemaBody
}

/** Others changed the subject meanwhile: looked at anew, this often. */
const TRIES = 20

/** Everything that changes the registry. Each reads what is current, checks, and proposes on condition that it is still so. */
export class SchemaWrites {
  readonly #store: SchemaStore
  readonly #checks: SchemaChecks

  constructor(store: SchemaStore, checks: SchemaChecks) {
    this.#store = store
    this.#checks = checks
  }

  /** The request as a body with canonical text. Errors: 42201, 42209. */
  async bodyOf(name: SubjectName, request: SchemaRequest, normalize: boolean): Promise<SchemaBody> {
    const { type, schema, metadata, ruleSet } = request
    const sizeBytes = Buffer.byteLength(schema, 'utf8')
    if (sizeBytes > SCHEMA_MAX_BYTES) throw schemaTooLarge(sizeBytes, SCHEMA_MAX_BYTES)
    const ordered = normalize ? request.references.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) : request.references
    const references = ordered.map((reference) => ({ name: reference.name, subject: reference.subject, version: reference.version }))
    try {
      const resolved = this.#store.resolve(references, name.context)
      const text = await this.#checks.canonical({ type, schema, references: resolved }, normalize)
      return { type, schema: text, references, metadata: metadata ?? undefined, ruleSet: ruleSet ?? undefined }
    } catch (error) {
      if (hasCode(error, 'SCHEMA_INVALID')) throw invalidSchema(error.message)
      throw error
    }
  }

  /** Errors: 409, 42201, 42205, 42209. A schema that the subject has already is answered as it is. */
  async register(name: SubjectName, request: SchemaRequest, normalize: boolean): Promise<Registered> {
    await this.#store.metadata.barrier()
    for (let tries = 0; tries < TRIES; tries++) {
      const { view } = this.#store
      const config = effectiveConfig(view, name)
      const subject = this.#store.subject(name)
      const body = await this.bodyOf(name, withDefaults(request, config), normalize || config.normalize === true)
      const guid = guidOf(body)
      const known = this.#existing(name, guid, request)
      if (known !== null) return { id: known.id, version: known.version, guid, body }
      this.#checkMode(name, request)
      if (request.id === 0) await this.#checkCompatible(name, body, config)
      const result = await this.#propose({
        kind: 'registerSchema',
        ...name,
        guid,
        body: encodeBody(body),
        references: body.references.map((reference) => ({ ...parseSubject(reference.subject, name.context), version: reference.version })),
        id: request.id,
        version: request.version > 0 ? request.version : 0,
        expectedRevision: subject?.revision ?? 0,
      })
      if (result.outcome === 'done') return { id: result.id, version: result.version, guid, body }
      if (result.outcome === 'idTaken') throw notPermitted(`Overwrite new schema with id ${request.id} is not permitted.`)
    }
    throw unavailable(`the subject ${formatSubject(name)} changes all the time: try again`)
  }

  /** The live version of the subject with this schema; one that is imported must have its id and version too. */
  #existing(name: SubjectName, guid: string, { id, version }: SchemaRequest): SchemaVersion | null {
    const content = this.#store.view.contentByGuid(name.context, guid)
    if (content === null) return null
    const found = this.#store
      .versions(name)
      .findLast((known) => known.id === content.id && (id === 0 || known.id === id) && (version <= 0 || known.version === version))
    return found ?? null
  }

  #checkMode(name: SubjectName, { id, version }: SchemaRequest): void {
    const mode = effectiveMode(this.#store.view, name)
    const shown = formatSubject(name)
    if (mode === 'READONLY' || mode === 'READONLY_OVERRIDE') throw notPermitted(`Subject ${shown} is in read-only mode`)
    if (id > 0 && mode !== 'IMPORT') throw notPermitted(`Subject ${shown} is not in import mode`)
    if (id === 0 && mode === 'IMPORT') throw notPermitted(`Subject ${shown} is in import mode: a schema needs an id`)
    if (version > 0 && mode !== 'IMPORT' && version !== (this.#store.versions(name, true).at(-1)?.version ?? 0) + 1)
      throw invalidSchema(`Version is not one more than previous version: ${version}`)
  }

  async #checkCompatible(name: SubjectName, body: SchemaBody, config: Config): Promise<void> {
    const previous = this.#store
      .versions(name)
      .map((version) => this.#store.body(this.#store.contentOf(name, version)))
      .filter((old) => sameGroup(config.compatibilityGroup, old.metadata, body.metadata))
    const problems = await this.incompatibilities(name, body, previous, config)
    if (problems.length > 0) throw incompatible(formatSubject(name), [...problems, `compatibility: '${config.compatibilityLevel}'`])
  }

  /** What speaks against `body` after `previous`, ascending by version. */
  async incompatibilities(name: SubjectName, body: SchemaBody, previous: readonly SchemaBody[], config: Config): Promise<string[]> {
    const text = ({ type, schema, references }: SchemaBody) => ({ type, schema, references: this.#store.resolve(references, name.context) })
    return this.#checks.incompatibilities(config.compatibilityLevel!, text(body), previous.map(text))
  }

  /** Answers the versions. Errors: 40401, 40404, 40405, 42205, 42206. */
  async deleteSubject(name: SubjectName, permanent: boolean): Promise<number[]> {
    return this.#delete(name, permanent, (subject) => {
      const shown = formatSubject(name)
      const live = subject.versions.filter(({ deleted }) => !deleted)
      if (!permanent && live.length === 0) throw subjectSoftDeleted(shown)
      if (permanent && live.length > 0) throw subjectNotSoftDeleted(shown)
      return (permanent ? subject.versions : live).map(({ version }) => version)
    })
  }

  /** Errors: 40401, 40402, 40406, 40407, 42205, 42206. `version` -1 is the latest. */
  async deleteVersion(name: SubjectName, version: number, permanent: boolean): Promise<number> {
    const [deleted] = await this.#delete(name, permanent, (subject) => {
      const shown = formatSubject(name)
      const row =
        version < 0
          ? subject.versions.findLast((known) => known.deleted === permanent)
          : subject.versions.find((known) => known.version === version)
      if (row === undefined) throw version < 0 ? subjectNotFound(shown) : versionNotFound(version)
      if (!permanent && row.deleted) throw versionSoftDeleted(shown, row.version)
      if (permanent && !row.deleted) throw versionNotSoftDeleted(shown, row.version)
      return [row.version]
    })
    return deleted
  }

  async #delete(name: SubjectName, permanent: boolean, choose: (subject: SchemaSubjectView) => number[]): Promise<number[]> {
    await this.#store.metadata.barrier()
    for (let tries = 0; tries < TRIES; tries++) {
      const subject = this.#store.subject(name)
      if (subject === null) throw subjectNotFound(formatSubject(name))
      const versions = choose(subject)
      this.#checkWritable(name)
      const result = await this.#propose({ kind: 'deleteSchemas', ...name, versions, permanent, expectedRevision: subject.revision })
      if (result.outcome === 'done') return versions
      if (result.outcome === 'referenced')
        throw referenceExists(`One or more references exist to the schema {subject=${formatSubject(name)},version=${versions.join(',')}}.`)
    }
    throw unavailable(`the subject ${formatSubject(name)} changes all the time: try again`)
  }

  #checkWritable(name: SubjectName): void {
    const mode = effectiveMode(this.#store.view, name)
    if (mode.startsWith('READONLY')) throw notPermitted(`Subject ${formatSubject(name)} is in read-only mode`)
  }

  /** Answers what is set now. Errors: 400, 42203, 42205. */
  async putConfig(name: SubjectName, request: Readonly<Record<string, unknown>>): Promise<Config> {
    await this.#store.metadata.barrier()
    this.#checkWritable(name)
    const config = mergeConfig(ownConfig(this.#store.view, name) ?? {}, request)
    await this.#alter(name, JSON.stringify(config), null)
    return config
  }

  async deleteConfig(name: SubjectName): Promise<void> {
    this.#checkWritable(name)
    await this.#alter(name, '', null)
  }

  /** To import, a subject or context must be empty, or `force`. Error: 42205. */
  async putMode(name: SubjectName, mode: Mode, force: boolean): Promise<void> {
    await this.#store.metadata.barrier()
    if (mode === 'READONLY_OVERRIDE' && name.subject !== '') throw badRequest('READONLY_OVERRIDE is for all subjects together')
    if (mode === 'IMPORT' && !force && effectiveMode(this.#store.view, name) !== 'IMPORT') {
      for (const { context, subject, versions } of this.#store.view.subjects()) {
        const inside = name.subject === '' ? context === name.context : context === name.context && subject === name.subject
        if (inside && versions.some(({ deleted }) => !deleted)) throw notPermitted('Cannot import since found existing subjects')
      }
    }
    await this.#alter(name, null, mode)
  }

  async deleteMode(name: SubjectName): Promise<void> {
    await this.#alter(name, null, '')
  }

  /** Settings of a context without subjects. Error: 42211. */
  async deleteContext(context: string): Promise<void> {
    await this.#store.metadata.barrier()
    for (const subject of this.#store.view.subjects()) if (subject.context === context) throw contextNotEmpty(context)
    await this.#alter({ context, subject: '' }, '', '')
  }

  async #alter(name: SubjectName, config: string | null, mode: string | null): Promise<void> {
    refuse(await this.#store.metadata.propose({ kind: 'alterSchemaSettings', ...name, config, mode }))
  }

  async #propose(command: Command): Promise<Extract<Result, { kind: 'schema' }>> {
    const result = refuse(await this.#store.metadata.propose(command))
    if (result.kind !== 'schema') throw new FrazilError('LOG_CORRUPT', `a schema was answered with ${result.kind}`)
    return result
  }
}

function refuse(result: Result): Result {
  if (result.kind === 'refused') throw unavailable(result.reason)
  return result
}

/** Metadata and rules that the config adds, or puts over what was given. */
function withDefaults(request: SchemaRequest, config: Config): SchemaRequest {
  const merged = (standard: unknown, given: unknown, over: unknown): unknown => {
    const layers = [standard, given, over].filter((layer) => layer !== undefined && layer !== null)
    return layers.length === 0 ? undefined : layers.length === 1 ? layers[0] : mergeLayers(layers as Record<string, unknown>[])
  }
  return {
    ...request,
    metadata: merged(config.defaultMetadata, request.metadata, config.overrideMetadata),
    ruleSet: merged(config.defaultRuleSet, request.ruleSet, config.overrideRuleSet),
  }
}

/** Two levels deep: properties of metadata are merged by name. */
function mergeLayers(layers: readonly Record<string, unknown>[]): Record<string, unknown> {
  const merged: Record<string, unknown> = {}
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer)) {
      const before = merged[name]
      merged[name] = isPlain(before) && isPlain(value) ? { ...before, ...value } : value
    }
  }
  return merged
}

const isPlain = (value: unknown): value is object => value !== null && typeof value === 'object' && !Array.isArray(value)
