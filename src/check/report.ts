/** What a check found. */
export interface Finding {
  /** `lost`: a record, a table or the log is damaged. `left`: bytes that nobody needs. */
  readonly kind: 'lost' | 'left' | 'repaired'
  readonly sentence: string
}

/** Findings and what was looked at; bounded, whatever is wrong with a store. */
export class Report {
  readonly findings: Finding[] = []
  readonly counts = new Map<string, number>()
  /** Findings beyond what is kept. */
  more = 0
  readonly #max: number

  constructor(max = 1000) {
    this.#max = max
  }

  lost(sentence: string): void {
    this.#add({ kind: 'lost', sentence })
  }

  left(sentence: string): void {
    this.#add({ kind: 'left', sentence })
  }

  repaired(sentence: string): void {
    this.#add({ kind: 'repaired', sentence })
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by)
  }

  /** True when nothing is damaged. */
  get whole(): boolean {
    return this.#lost === 0
  }

  #lost = 0

  #add(finding: Finding): void {
    if (finding.kind === 'lost') this.#lost++
    if (this.findings.length < this.#max) this.findings.push(finding)
    else this.more++
  }
}
