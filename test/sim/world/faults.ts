/** How often each kind of fault struck. */
export class FaultCounts {
  readonly byKind = new Map<string, number>()

  count(kind: string): void {
    this.byKind.set(kind, (this.byKind.get(kind) ?? 0) + 1)
  }

  get total(): number {
    let total = 0
    for (const count of this.byKind.values()) total += count
    return total
  }
}
