/** Who gets a worker first: a load that someone waits for, a conversion that is due, a merge. */
export type Priority = 'load' | 'convert' | 'merge'

const ORDER: readonly Priority[] = ['load', 'convert', 'merge']
/** After this many grants past a waiting lower class, that class gets one: nobody starves. */
const PASSED_MAX = 4

/** A bounded number of places at the workers, given out by priority. It bounds the memory of conversion as well. */
export class Slots {
  readonly size: number
  #free: number
  #passed = 0
  readonly #waiting: Record<Priority, (() => void)[]> = { load: [], convert: [], merge: [] }

  constructor(size: number) {
    this.size = Math.max(1, size)
    this.#free = this.size
  }

  get free(): number {
    return this.#free
  }

  get waiting(): number {
    return ORDER.reduce((sum, priority) => sum + this.#waiting[priority].length, 0)
  }

  /** Runs a task when a place is free. */
  async run<T>(priority: Priority, task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting[priority].push(resolve))
    try {
      return await task()
    } finally {
      this.#next()
    }
  }

  #next(): void {
    const classes = ORDER.filter((priority) => this.#waiting[priority].length > 0)
    if (classes.length === 0) {
      this.#free++
      return
    }
    const turn = classes.length > 1 && this.#passed >= PASSED_MAX ? classes.at(-1)! : classes[0]!
    this.#passed = turn === classes.at(-1) ? 0 : this.#passed + 1
    this.#waiting[turn].shift()!()
  }
}
