import { FrazilError } from '../../base/errors.ts'
import type { PgSession } from './pgSession.ts'
import type { PgSpec } from './pgSpec.ts'

const FORMAT = 1

/**
 * Makes the tables where they are missing, and looks whether they are ours. `head` has one row: the last entry, the floor (L4).
 * Errors: REFUSED for tables of a newer version or of something else; as PgSession.
 */
export async function preparePg(session: PgSession, { schema, shown }: PgSpec): Promise<void> {
  const { rows: found } = await session.query('SELECT to_regclass($1) IS NOT NULL AS there', [`${schema}.head`])
  if (found[0]['there'] !== true) await session.query(creation(schema))
  const { rows } = await session.query(`SELECT format FROM ${schema}.head`)
  const format = Number(rows[0]?.['format'] ?? 0)
  if (format > FORMAT)
    throw new FrazilError('REFUSED', `${shown} was written by a newer version of Frazil (format ${format}): run that version`)
  if (format !== FORMAT || rows.length !== 1)
    throw new FrazilError('REFUSED', `${shown} holds a table "head" that is not Frazil's: name another schema`)
}

/** One statement string runs as one transaction; pods that start together wait for each other. */
function creation(schema: string): string {
  return `
    SELECT pg_advisory_xact_lock(hashtext('frazil ${schema}'));
    CREATE SCHEMA IF NOT EXISTS ${schema};
    CREATE TABLE IF NOT EXISTS ${schema}.entries (number bigint PRIMARY KEY, bytes bytea NOT NULL);
    ALTER TABLE ${schema}.entries ALTER COLUMN bytes SET STORAGE EXTERNAL;
    CREATE TABLE IF NOT EXISTS ${schema}.snapshots (last_entry bigint PRIMARY KEY, bytes bytea NOT NULL);
    CREATE TABLE IF NOT EXISTS ${schema}.head (
      one boolean PRIMARY KEY DEFAULT true CHECK (one), format integer NOT NULL, last_entry bigint NOT NULL, floor bigint NOT NULL);
    INSERT INTO ${schema}.head (format, last_entry, floor) VALUES (${FORMAT}, 0, 1) ON CONFLICT DO NOTHING;
  `
}
