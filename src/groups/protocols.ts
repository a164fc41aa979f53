import type { MemberProtocol } from './types.ts'

interface Speaker {
  readonly protocols: readonly MemberProtocol[]
}

/** Names that every member supports. */
function commonNames(members: readonly Speaker[]): Set<string> {
  const counts = new Map<string, number>()
  for (const member of members) {
    for (const name of new Set(member.protocols.map((protocol) => protocol.name))) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return new Set([...counts].filter(([, count]) => count === members.length).map(([name]) => name))
}

/** Each member votes for the first of its protocols that all support; most votes win, the earlier vote on a tie. */
export function selectProtocol(all: Iterable<Speaker>): string | null {
  const members = [...all]
  const common = commonNames(members)
  const votes = new Map<string, number>()
  for (const member of members) {
    const vote = member.protocols.find((protocol) => common.has(protocol.name))
    if (vote !== undefined) votes.set(vote.name, (votes.get(vote.name) ?? 0) + 1)
  }
  let best: string | null = null
  for (const [name, count] of votes) if (best === null || count > votes.get(best)!) best = name
  return best
}

/** True when some protocol of the joiner is supported by every member there is. */
export function supports(all: Iterable<Speaker>, protocols: readonly MemberProtocol[]): boolean {
  const common = commonNames([...all])
  return protocols.some((protocol) => common.has(protocol.name))
}
