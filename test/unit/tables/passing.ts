import type { Command, Result } from '../../../src/metadata/commands.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import type { Metadata } from '../../../src/metadata/port.ts'

/** The engine with something between it and its proposers. */
export function passing(inner: MetadataEngine, propose: (command: Command, pass: () => Promise<Result>) => Promise<Result>): Metadata {
  return {
    state: inner.state,
    incarnation: inner.incarnation,
    nodeId: inner.nodeId,
    attachmentMaxBytes: inner.attachmentMaxBytes,
    barrier: () => inner.barrier(),
    onApplied: (listener) => inner.onApplied(listener),
    readAttachment: (entry, start, end) => inner.readAttachment(entry, start, end),
    propose: (command, attachment) => propose(command, () => inner.propose(command, attachment)),
  }
}
