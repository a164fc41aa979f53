import { FrazilError } from '../../base/errors.ts'

/** Where a log in PostgreSQL lives. */
export interface PgSpec {
  /** As the driver takes it: host, port, database, user, password, TLS. */
  readonly url: string
  /** Schema of the cluster's tables: several clusters may share a database. */
  readonly schema: string
  /** For messages: the URL without password. */
  readonly shown: string
}

const SCHEMA = 'frazil'

/** True for what names a PostgreSQL database. */
export function isPg(text: string): boolean {
  return /^postgres(ql)?:/.test(text)
}

/** Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME`. Error: SETTING_INVALID with the setting's name, never the password. */
export function parsePg(setting: string, text: string): PgSpec {
  const bad = (why: string): FrazilError =>
    new FrazilError('SETTING_INVALID', `${setting}: it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME; ${why}`)
  let url
  try {
    url = new URL(text)
  } catch (error) {
    throw new FrazilError('SETTING_INVALID', bad('this is no URL').message, error)
  }
  if (url.pathname.length < 2) throw bad('it names no database')
  const schema = url.searchParams.get('schema') ?? SCHEMA
  if (!/^[a-z_][a-z0-9_]{0,49}$/.test(schema)) throw bad(`the schema "${schema}" is not 1 to 50 of a to z, 0 to 9 and _`)
  url.searchParams.delete('schema')
  const shown = new URL(url)
  shown.password = ''
  shown.search = ''
  return { url: url.toString(), schema, shown: `${shown.toString()}?schema=${schema}` }
}
