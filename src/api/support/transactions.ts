import { Errors } from '../../../protocol/index.ts'
import { hasCode } from '../../base/errors.ts'
import type { Command, Result } from '../../metadata/commands.ts'
import type { ApiParts } from '../parts.ts'

/** The feature level at which transactions are served (L5). */
const LEVEL = 2

/** Whether every pod knows transactions; before, clients are told to look for the coordinator again. */
export function servesTransactions(parts: ApiParts): boolean {
  return parts.metadata.state.level >= LEVEL
}

export type TransactionResult = Extract<Result, { kind: 'transaction' }>

const failed = (error: number): TransactionResult => ({ kind: 'transaction', error, producerId: -1, producerEpoch: -1 })

/**
 * Proposes a command about a transaction. What it did is decided by `apply` alone, so any pod can serve any transactional id. A
 * log that cannot be written is COORDINATOR_NOT_AVAILABLE, a process that ends NOT_COORDINATOR: clients ask again, and a
 * command that had landed is recognised.
 */
export async function proposeTransaction(parts: ApiParts, command: Command): Promise<TransactionResult> {
  const result = await proposeOrFail(parts, command)
  if (typeof result === 'number') return failed(result)
  return result.kind === 'transaction' ? result : failed(Errors.COORDINATOR_NOT_AVAILABLE)
}

/** As above for commands with another answer; a Kafka error code when there is none. */
export async function proposeOrFail(parts: ApiParts, command: Command): Promise<Result | number> {
  try {
    const result = await parts.metadata.propose(command)
    return result.kind === 'refused' ? Errors.COORDINATOR_NOT_AVAILABLE : result
  } catch (failure) {
    if (hasCode(failure, 'FENCED') || hasCode(failure, 'CLOSED')) return Errors.NOT_COORDINATOR
    parts.logger.warn({ err: failure, command: command.kind }, 'a change of a transaction could not be stored')
    return Errors.COORDINATOR_NOT_AVAILABLE
  }
}

/** Clients of older versions know a fenced producer by another code (K: KafkaApis). */
export function fencedFor(error: number, knowsFenced: boolean): number {
  return error === Errors.PRODUCER_FENCED && !knowsFenced ? Errors.INVALID_PRODUCER_EPOCH : error
}
