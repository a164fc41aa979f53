/** A difference that stays, and why. The list may only shrink: a full run fails on an entry that no longer occurs. */
export interface Accepted {
  readonly key: number
  readonly path: string
  /** Which steps: tested against `scenario: label`. */
  readonly at?: RegExp
  readonly kafka?: RegExp
  readonly frazil?: RegExp
  readonly why: string
}

export const ACCEPTED: readonly Accepted[] = []
