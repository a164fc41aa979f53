import { FrazilError } from '../../base/errors.ts'

/** Answers beyond this are refused: a schema of 10 MiB with every quote escaped, and its references. */
const ANSWER_MAX_BYTES = 32 * 1024 * 1024
const TIMEOUT_MS = 10_000

export interface RegistryAddress {
  /** Without credentials and without a slash at the end. */
  readonly url: string
  /** The header of basic authentication, or null. */
  readonly authorization: string | null
}

/** An address as it is set; credentials stand in it or beside it. Error: SETTING_INVALID. */
export function parseAddress(setting: string, user: string, password: string): RegistryAddress {
  let url: URL
  try {
    url = new URL(setting)
  } catch {
    throw new FrazilError('SETTING_INVALID', 'schema-registry: it is no URL')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new FrazilError('SETTING_INVALID', 'schema-registry: it begins with neither http:// nor https://')
  const name = user === '' ? decodeURIComponent(url.username) : user
  const secret = password === '' ? decodeURIComponent(url.password) : password
  const authorization = name === '' && secret === '' ? null : `Basic ${Buffer.from(`${name}:${secret}`, 'utf8').toString('base64')}`
  return { url: `${url.origin}${url.pathname.replace(/\/+$/, '')}`, authorization }
}

/**
 * GET of a path: the JSON object, or null for a definite "there is none" (404 with one of the registry's own codes).
 * Everything else is SCHEMA_REGISTRY_UNAVAILABLE, a 404 of something that is no registry too.
 */
export async function getJson({ url, authorization }: RegistryAddress, path: string): Promise<Readonly<Record<string, unknown>> | null> {
  const away = (why: string, cause?: unknown): FrazilError =>
    new FrazilError('SCHEMA_REGISTRY_UNAVAILABLE', `the schema registry at ${url} ${why}`, cause)
  let status: number
  let text: string
  try {
    const response = await fetch(`${url}${path}`, {
      headers: { accept: 'application/vnd.schemaregistry.v1+json, application/json', ...(authorization === null ? {} : { authorization }) },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    status = response.status
    text = await bounded(response)
  } catch (error) {
    if (error instanceof FrazilError) throw error
    const { name, cause } = error as { name?: string; cause?: { code?: string } }
    throw away(name === 'TimeoutError' ? 'does not answer' : `cannot be reached (${cause?.code ?? name ?? 'no connection'})`, error)
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw away(`answers ${status} with what is no JSON`)
  }
  if (json === null || typeof json !== 'object' || Array.isArray(json)) throw away(`answers ${status} with what is no object`)
  const { error_code: code } = json as { error_code?: unknown }
  if (status === 404 && typeof code === 'number' && code >= 40401 && code <= 40409) return null
  if (status === 401 || status === 403) throw away('refuses the credentials')
  if (status !== 200) throw away(`answers ${status}`)
  return json as Readonly<Record<string, unknown>>

  async function bounded(response: Response): Promise<string> {
    const chunks: Uint8Array[] = []
    let sizeBytes = 0
    for await (const chunk of response.body ?? []) {
      sizeBytes += (chunk as Uint8Array).length
      if (sizeBytes > ANSWER_MAX_BYTES) throw away(`answers with more than ${ANSWER_MAX_BYTES} bytes`)
      chunks.push(chunk as Uint8Array)
    }
    return Buffer.concat(chunks).toString('utf8')
  }
}
