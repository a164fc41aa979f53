import { afterEach, describe, expect, it } from 'vitest'
import { SHARDS } from '../../../src/metadata/state/shards.ts'
import { createTopic } from '../metadata/helpers.ts'
import { Cluster, until, type TestPod } from './cluster.ts'

const clusters: Cluster[] = []
afterEach(async () => {
  await Promise.all(clusters.splice(0).map((cluster) => cluster.close()))
})

function cluster(): Cluster {
  const made = new Cluster()
  clusters.push(made)
  return made
}

async function three(): Promise<{ made: Cluster; pods: TestPod[] }> {
  const made = cluster()
  const pods = [await made.start('a'), await made.start('b'), await made.start('c')]
  await until(() => pods.every(({ pods: each }) => each.nodes().length === 3 && each.writer.holder !== 0), 'three pods see each other')
  return { made, pods }
}

const names = ({ pods }: TestPod): string[] => pods.nodes().map((member) => member.pod)
const owners = ({ metadata }: TestPod): number[] => Array.from({ length: SHARDS }, (_, shard) => metadata.state.shard(shard).owner)
const count = (all: readonly number[], one: number): number => all.filter((each) => each === one).length

describe('pods that share a log', () => {
  it('see each other, agree on one that writes, and share shards and work', async () => {
    const { pods } = await three()
    const incarnations = pods.map(({ metadata }) => metadata.incarnation)
    await until(() => pods.every((pod) => incarnations.every((each) => count(owners(pod), each) >= 5)), 'every pod has shards')
    expect(new Set(pods.map(({ pods: each }) => each.writer.holder)).size).toBe(1)
    for (let i = 0; i < 50; i++) expect(pods.filter(({ pods: each }) => each.owns(`topic ${i}`)).length).toBe(1)
    for (const { pods: each } of pods)
      expect(Array.from({ length: 100 }, (_, i) => each.owns(`topic ${i}`)).filter(Boolean).length).toBeGreaterThan(10)
  })

  it('proposals of all of them are written by the holder; entries come by the stream', async () => {
    const { pods } = await three()
    const other = pods.find(({ pods: each }) => !each.writer.isHolder)!
    const third = pods.find((pod) => pod !== other && !pod.pods.writer.isHolder)!
    const before = other.log.appendedBytes.length
    third.log.beforeRead = () => {
      throw new Error('the log was read')
    }
    const topics = await Promise.all(Array.from({ length: 20 }, (_, i) => createTopic(other.metadata, `t${i}`)))
    expect(new Set(topics).size).toBe(20)
    expect(other.log.appendedBytes.length).toBe(before)
    await until(() => third.metadata.state.topicByName('t19') !== null, 'the stream')
  })

  it('a killed holder is replaced, then fenced; its shards go to the others, which keep theirs', async () => {
    const { made, pods } = await three()
    await until(() => count(owners(pods[0]!), 0) === 0)
    const holder = pods.find(({ pods: each }) => each.writer.isHolder)!
    const rest = pods.filter((pod) => pod !== holder)
    await until(() => pods.every((pod) => pods.every(({ metadata }) => count(owners(pod), metadata.incarnation) >= 5)))
    const before = owners(rest[0]!)
    await made.kill(holder)
    await until(() => rest.every((pod) => names(pod).length === 2), 'the dead one is left out')
    await createTopic(rest[0]!.metadata, 'after')
    await until(() => rest.every((pod) => rest.some(({ metadata }) => metadata.incarnation === pod.pods.writer.holder)), 'a new holder')
    await until(() => rest[0]!.metadata.state.incarnation(holder.metadata.incarnation)!.live === false, 'it is fenced')
    await until(() => count(owners(rest[0]!), holder.metadata.incarnation) === 0, 'its shards moved')
    const moved = owners(rest[0]!).filter((owner, shard) => owner !== before[shard] && before[shard] !== holder.metadata.incarnation)
    expect(moved).toEqual([])
  })

  it('a pod whose links are silent stays in the log: nobody is fenced, it writes itself, and it is linked again later', async () => {
    const { made, pods } = await three()
    const lonely = pods.find(({ pods: each }) => !each.writer.isHolder)!
    made.wires.silent.add(lonely.address)
    await until(() => pods.every((pod) => names(pod).length === (pod === lonely ? 1 : 2)), 'suspicion on both sides')
    await createTopic(lonely.metadata, 'alone')
    const { renewals } = [...lonely.metadata.state.livePods()].find((pod) => pod.incarnation === lonely.metadata.incarnation)!
    await until(
      () => [...lonely.metadata.state.livePods()].find((pod) => pod.incarnation === lonely.metadata.incarnation)!.renewals > renewals + 5,
    )
    await Promise.all(pods.map(({ metadata }) => metadata.barrier()))
    expect([...pods[0]!.metadata.state.livePods()].length).toBe(3)
    expect(pods.map(({ stopped }) => stopped)).toEqual([null, null, null])
    made.wires.silent.clear()
    await until(() => pods.every((pod) => names(pod).length === 3), 'all see each other again')
  })

  it('a pod that takes long to start is not fenced for it, and is there when it has joined', async () => {
    const { made, pods } = await three()
    const slow = await made.start('slow', { join: false })
    const counters = (): Map<number, number> =>
      new Map(Array.from(pods[0]!.metadata.state.livePods(), (pod) => [pod.incarnation, pod.renewals]))
    const before = counters().get(pods[0]!.metadata.incarnation)!
    // Several times as many renewals of others as expire a pod without its own.
    await until(() => counters().get(pods[0]!.metadata.incarnation)! > before + 12, 'others renewed themselves')
    expect(counters().get(slow.metadata.incarnation)).toBeGreaterThan(2)
    await slow.pods.join({ listeners: [{ name: 'PLAINTEXT', host: 'slow', port: 9092 }], rack: '' })
    await until(() => pods.every((pod) => names(pod).length === 4), 'all see it')
    expect(slow.stopped).toBe(null)
  })

  it('one that leaves hands everything over and is gone at once', async () => {
    const { pods } = await three()
    await until(() => pods.every((pod) => pods.every(({ metadata }) => count(owners(pod), metadata.incarnation) >= 5)))
    const leaver = pods.find(({ pods: each }) => each.writer.isHolder)!
    const rest = pods.filter((pod) => pod !== leaver)
    const before = owners(leaver)
    await leaver.pods.drain()
    expect(leaver.pods.draining).toBe(true)
    expect(count(owners(leaver), leaver.metadata.incarnation)).toBe(0)
    await until(() => rest.every((pod) => names(pod).length === 2 && pod.pods.writer.holder !== leaver.metadata.incarnation))
    expect(names(leaver)).toEqual(names(rest[0]!))
    await createTopic(leaver.metadata, 'still-served')
    await leaver.pods.leave()
    expect(rest[0]!.metadata.state.incarnation(leaver.metadata.incarnation)).not.toBe(null)
    await until(() => rest.every(({ metadata }) => metadata.state.incarnation(leaver.metadata.incarnation)!.live === false))
    const kept = owners(rest[0]!).filter((owner, shard) => before[shard] !== leaver.metadata.incarnation && owner !== before[shard])
    expect(kept).toEqual([])
    expect(leaver.stopped).toBe(null)
  })

  it('reads of a peer are answered from its cache, or with nothing', async () => {
    const { pods } = await three()
    const [a, b] = pods as [TestPod, TestPod]
    expect(String(await a.pods.readFrom(b.metadata.incarnation, 7, 2, 5))).toBe('234')
    expect(await a.pods.readFrom(b.metadata.incarnation, 8, 2, 5)).toBe(null)
    expect(await a.pods.readFrom(999, 7, 2, 5)).toBe(null)
  })
})

describe('identity (L22)', () => {
  it('the name of a pod that runs is refused to a second process, at once', async () => {
    const made = cluster()
    const first = await made.start('a')
    await expect(made.start('a')).rejects.toMatchObject({ code: 'STORE_IN_USE', message: expect.stringContaining('--pod') })
    await createTopic(first.metadata, 'goes-on')
    expect(first.stopped).toBe(null)
  })

  it('also when its links are silent, as long as it renews its lease', async () => {
    const made = cluster()
    const first = await made.start('a')
    made.wires.silent.add(first.address)
    await expect(made.start('a')).rejects.toMatchObject({ code: 'STORE_IN_USE' })
    expect(first.stopped).toBe(null)
  })

  it('one that died is replaced at once; one that hangs, after its lease did not move; then it stops', async () => {
    const made = cluster()
    const first = await made.start('a')
    await made.kill(first)
    const second = await made.start('a')
    expect([second.metadata.nodeId, second.metadata.incarnation]).toEqual([first.metadata.nodeId, first.metadata.incarnation + 1])
    // It hangs: no link answers, nothing is written.
    made.wires.silent.add(second.address)
    let release = (): void => {}
    second.log.beforeAppend = () => new Promise((resolve) => (release = resolve))
    const third = await made.start('a')
    expect(third.metadata.state.incarnation(second.metadata.incarnation)!.live).toBe(false)
    second.log.beforeAppend = () => {}
    release()
    await until(() => second.stopped !== null)
    expect(second.stopped!.code).toBe('FENCED')
  })
})

describe('levels (L5)', () => {
  it('an older pod holds the level back; when it has gone the others announce themselves', async () => {
    const made = cluster()
    const old = await made.start('old', { level: 1 })
    const fresh = await made.start('new')
    expect(fresh.metadata.state.level).toBe(1)
    expect(fresh.pods.nodes()).toEqual([])
    await old.pods.leave()
    await until(() => names(fresh).length === 1, 'the new one is alone and announced')
    expect(fresh.metadata.state.level).toBeGreaterThan(1)
  })
})
