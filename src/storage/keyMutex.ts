/** Runs tasks of one key one after the other, in the order of the calls; tasks of different keys at once. */
export class KeyMutex {
  readonly #tails = new Map<string, Promise<void>>()

  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const result = before === undefined ? task() : before.then(task)
    const tail: Promise<void> = result.then(
      () => this.#end(key, tail),
      () => this.#end(key, tail),
    )
    this.#tails.set(key, tail)
    return result
  }

  #end(key: string, tail: Promise<void>): void {
    if (this.#tails.get(key) === tail) this.#tails.delete(key)
  }
}
