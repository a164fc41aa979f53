import type { ApiParts } from '../parts.ts'

/** The feature level at which consumer groups (KIP-848) are served (L5). */
const LEVEL = 2

/** Whether every pod knows consumer groups. */
export function servesConsumerGroups(parts: ApiParts): boolean {
  return parts.metadata.state.level >= LEVEL
}
