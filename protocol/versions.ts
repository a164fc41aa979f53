/** Version ranges in Kafka's notation: 'none', '3', '0-12', '9+'. */

export interface VersionRange {
  readonly min: number
  readonly max: number
}

const NONE: VersionRange = { min: 0, max: -1 }

/** Parses a range; an open one ends at 32767, 'none' and undefined hold no version. Throws on anything else: a definition is wrong. */
export function parseVersions(text: string | undefined): VersionRange {
  if (text === undefined || text === 'none') return NONE
  const match = /^(\d+)(?:(\+)|-(\d+))?$/.exec(text)
  if (!match) throw new Error(`'${text}' is not a version range`)
  const min = Number(match[1])
  return { min, max: match[2] ? 32767 : match[3] === undefined ? min : Number(match[3]) }
}

export function inRange(range: VersionRange, version: number): boolean {
  return version >= range.min && version <= range.max
}
