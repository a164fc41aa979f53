import type { StateView, PodView } from '../metadata/view.ts'

/** Phases of a pod (commands.ts PodAbout). */
export const STARTING = 1
export const READY = 2
export const DRAINING = 3

/** A pod that is ready and not suspected here. */
export type Member = PodView & { readonly about: NonNullable<PodView['about']> }

export interface MembersOptions {
  readonly state: StateView
  /** Of this process. */
  readonly incarnation: number
  /** True for a pod whose link is silent: others do its work until it is heard again. Never decides what is true. */
  readonly suspected: (incarnation: number) => boolean
}

/** The pods that clients and work are sent to, as this pod sees it now: what the state says, without those that are silent. */
export class Members {
  readonly #options: MembersOptions
  #dirty = true
  #shown = ''
  #members: readonly Member[] = []
  #generation = 0

  constructor(options: MembersOptions) {
    this.#options = options
  }

  /** In the order of their node ids. While nobody is ready: who is draining, so that there is somebody to ask. */
  nodes(): readonly Member[] {
    this.#refresh()
    return this.#members
  }

  /** Goes up when `nodes` changes. */
  get generation(): number {
    this.#refresh()
    return this.#generation
  }

  ready(incarnation: number): boolean {
    return this.nodes().some((member) => member.incarnation === incarnation)
  }

  /** The place of an incarnation in the order in which pods take over from each other; -1 when it is none to do so. */
  rank(incarnation: number): number {
    return this.nodes().findIndex((member) => member.incarnation === incarnation)
  }

  /** To be called after entries other than appends, and when who is suspected may have changed. */
  changed(): void {
    this.#dirty = true
  }

  #refresh(): void {
    const { state, incarnation, suspected } = this.#options
    if (!this.#dirty) return
    this.#dirty = false
    const announced: Member[] = []
    for (const pod of state.livePods()) if (pod.about !== null) announced.push(pod as Member)
    const usable = announced.filter((pod) => pod.incarnation === incarnation || !suspected(pod.incarnation))
    const ready = usable.filter((pod) => pod.about.phase === READY)
    const members = ready.length > 0 ? ready : usable.filter((pod) => pod.about.phase === DRAINING)
    members.sort((a, b) => a.nodeId - b.nodeId)
    const shown = members.map((pod) => `${pod.incarnation}:${JSON.stringify(pod.about)}`).join()
    if (shown !== this.#shown) this.#generation++
    this.#shown = shown
    this.#members = members
  }
}
