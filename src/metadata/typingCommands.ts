/**
 * A topic's table gets another typing (its columns and recipes, T2): the object `key`, which is there already. Refused
 * unless the table's typing is at `expectedVersion`; then it is one higher. Typings only grow, so what was written under
 * an older one can be read with any newer one.
 */
export interface SetTableTyping {
  readonly topic: number
  readonly expectedVersion: number
  readonly key: string
}
