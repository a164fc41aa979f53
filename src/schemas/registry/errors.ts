/** An answer of the registry other than success: HTTP status, and the error code that clients switch on (Confluent's API). */
export class RegistryError extends Error {
  readonly status: number
  readonly errorCode: number
  constructor(status: number, errorCode: number, message: string) {
    super(message)
    this.status = status
    this.errorCode = errorCode
  }
}

const make =
  <A extends unknown[]>(errorCode: number, message: (...given: A) => string) =>
  (...given: A): RegistryError =>
    new RegistryError(Math.floor(errorCode / 100), errorCode, message(...given))

export const subjectNotFound = make(40401, (subject: string) => `Subject '${subject}' not found.`)
export const versionNotFound = make(40402, (version: number) => `Version ${version} not found.`)
export const schemaNotFound = make(40403, (id?: number | string) => (id === undefined ? 'Schema not found' : `Schema ${id} not found`))
export const subjectSoftDeleted = make(
  40404,
  (subject: string) => `Subject '${subject}' was soft deleted. Set permanent=true to delete permanently`,
)
export const subjectNotSoftDeleted = make(
  40405,
  (subject: string) => `Subject '${subject}' was not deleted first before being permanently deleted`,
)
export const versionSoftDeleted = make(
  40406,
  (subject: string, version: number) =>
    `Subject '${subject}' Version ${version} was soft deleted. Set permanent=true to delete permanently`,
)
export const versionNotSoftDeleted = make(
  40407,
  (subject: string, version: number) => `Subject '${subject}' Version ${version} was not deleted first before being permanently deleted`,
)
export const noSubjectConfig = make(40408, (subject: string) => `Subject '${subject}' does not have subject-level compatibility configured`)
export const noSubjectMode = make(40409, (subject: string) => `Subject '${subject}' does not have subject-level mode configured`)
export const invalidSchema = make(42201, (sentence: string) => `Invalid schema: ${sentence}`)
export const invalidVersion = make(
  42202,
  (version: string) =>
    `The specified version '${version}' is not a valid version id. Allowed values are between [1, 2^31-1] and the string "latest"`,
)
export const invalidCompatibility = make(
  42203,
  () =>
    'Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive',
)
export const invalidMode = make(42204, () => 'Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE, and IMPORT')
export const notPermitted = make(42205, (sentence: string) => sentence)
export const referenceExists = make(42206, (sentence: string) => sentence)
export const invalidSubject = make(42208, (subject: string) => `The specified subject '${subject}' is not a valid subject`)
export const schemaTooLarge = make(42209, (bytes: number, max: number) => `The schema has ${bytes} bytes, the limit is ${max}`)
export const contextNotEmpty = make(42211, (context: string) => `The specified context '${context}' is not empty`)

/** Clients compare the code with the status here. */
export const incompatible = (subject: string, details: readonly string[]): RegistryError =>
  new RegistryError(
    409,
    409,
    `Schema being registered is incompatible with an earlier schema for subject "${subject}", details: [${details.join(', ')}]`,
  )
export const badRequest = (sentence: string): RegistryError => new RegistryError(400, 400, sentence)
export const unavailable = (sentence: string): RegistryError => new RegistryError(503, 50302, sentence)
