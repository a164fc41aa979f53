import { FrazilError } from '../../../src/base/errors.ts'
import type { PeerLink, PeerNetwork } from '../../../src/pods/port.ts'

/** Links in memory between the networks that one `Wires` made; single ways can be cut, as a network does. */
export class Wires {
  readonly #accepts = new Map<string, (link: PeerLink) => void>()
  /** Addresses that drop everything, silently. */
  readonly silent = new Set<string>()
  #count = 0
  messages = 0

  /** Nobody listens there any more. */
  cut(address: string): void {
    this.#accepts.delete(address)
  }

  network(): PeerNetwork & { readonly address: string } {
    const address = `pod-${++this.#count}:1`
    const links = new Set<Wire>()
    return {
      address,
      listen: (accept) => {
        this.#accepts.set(address, accept)
        return Promise.resolve(address)
      },
      dial: async (to) => {
        await new Promise((resolve) => setImmediate(resolve))
        const accept = this.#accepts.get(to)
        if (accept === undefined) throw new FrazilError('REFUSED', `nobody listens at ${to}`)
        const pass = (): boolean => {
          this.messages++
          return !this.silent.has(to) && !this.silent.has(address)
        }
        const [ours, theirs] = [new Wire(pass), new Wire(pass)]
        ours.other = theirs
        theirs.other = ours
        links.add(ours)
        accept(theirs)
        return ours
      },
      close: async () => {
        this.#accepts.delete(address)
        for (const link of links) link.close()
      },
    }
  }
}

class Wire implements PeerLink {
  onMessage: (message: Buffer) => void = () => {}
  onClose: () => void = () => {}
  other: Wire | null = null
  readonly #pass: () => boolean
  #closed = false

  constructor(pass: () => boolean) {
    this.#pass = pass
  }

  send(message: Uint8Array): boolean {
    if (this.#closed) return false
    const copy = Buffer.from(message)
    if (this.#pass()) setImmediate(() => !this.#closed && this.other!.onMessage(copy))
    return true
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.onClose()
    setImmediate(() => this.other!.close())
  }
}
