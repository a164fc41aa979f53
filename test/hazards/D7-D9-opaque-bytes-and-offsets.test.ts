/**
 * D7: empty and null forms of assignments and subscriptions got lost when a broker re-encoded them. They are passed on byte for
 * byte. D9: a client committed N instead of N+1; as a control, what we give back is exactly what was sent.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeRequestHeader, decodeResponse, decodeResponseHeader, encodeRequestFrame } from '../../protocol/index.ts'
import { apiWorld, settle, type ApiWorld } from '../unit/api/harness.ts'
import { TestMember } from '../unit/api/members.ts'

let world: ApiWorld
beforeAll(async () => (world = await apiWorld()))
afterAll(() => world.close())

const FORMS: Record<string, Buffer> = {
  'version 0 with null user data': Buffer.from('000000000000ffffffff', 'hex'),
  'version 0 with empty user data': Buffer.from('00000000000000000000', 'hex'),
  'user data left out': Buffer.from('000000000000', 'hex'),
  'version 3 with owned partitions, generation and rack': Buffer.from(
    '0003000000010001610000000000000001000161000000010000000000000005ffff',
    'hex',
  ),
  'no bytes': Buffer.alloc(0),
  'bytes that are no protocol at all': Buffer.from('ff00fe80', 'hex'),
}

describe('bytes of members', () => {
  for (const [name, bytes] of Object.entries(FORMS)) {
    it(`come back as they were sent: ${name}`, async () => {
      const member = new TestMember(world, { groupId: `opaque ${name}`, metadata: bytes })
      const joining = member.join()
      await settle()
      await world.clock.advance(3_000)
      const joined = await joining
      expect(joined.members.map((each) => Buffer.from(each.metadata).toString('hex'))).toEqual([bytes.toString('hex')])
      const synced = await member.sync({ [member.memberId]: bytes })
      expect(Buffer.from(synced.assignment).toString('hex')).toBe(bytes.toString('hex'))
      const [described] = (await world.call(15, 5, { groups: [member.groupId] })).groups
      expect(Buffer.from(described.members[0].memberMetadata).toString('hex')).toBe(bytes.toString('hex'))
      expect(Buffer.from(described.members[0].memberAssignment).toString('hex')).toBe(bytes.toString('hex'))
    })
  }

  it('survive the reuse of the frame they arrived in', async () => {
    const joins = { sessionTimeoutMs: 10_000, rebalanceTimeoutMs: 10_000, memberId: '', protocolType: 'consumer' }
    const protocols = [{ name: 'range', metadata: Buffer.from('subscription') }]
    const header = { apiKey: 11, apiVersion: 3, correlationId: 1, clientId: 'c' } as const
    const frame = Buffer.concat(encodeRequestFrame(header, { groupId: 'frames', ...joins, protocols }).chunks).subarray(4)
    const joining = world.dispatcher.dispatch(world.connection, decodeRequestHeader(frame), frame)
    await settle()
    frame.fill(0)
    await world.clock.advance(3_000)
    const bytes = Buffer.concat((await joining)!.chunks)
    const joined = decodeResponse(11, 3, bytes, decodeResponseHeader(11, 3, bytes, 4).bodyAt)
    expect(Buffer.from(joined.members[0].metadata).toString()).toBe('subscription')
  })
})

describe('a committed offset', () => {
  for (const [offset, epoch, metadata] of [
    [0, 0, ''],
    [1, -1, 'x'],
    [2 ** 53 - 1, 7, 'ünï'],
    [41, 0, null],
  ] as const) {
    it(`comes back as it was sent: ${offset}, epoch ${epoch}, ${JSON.stringify(metadata)}`, async () => {
      const partitions = [{ partitionIndex: 0, committedOffset: offset, committedLeaderEpoch: epoch, committedMetadata: metadata }]
      await world.call(8, 9, { groupId: 'd9', memberId: '', topics: [{ name: 'a', partitions }] })
      const fetched = await world.call(9, 9, { groups: [{ groupId: 'd9', topics: [{ name: 'a', partitionIndexes: [0] }] }] })
      expect(fetched.groups[0].topics[0].partitions[0]).toEqual({
        partitionIndex: 0,
        committedOffset: offset,
        committedLeaderEpoch: epoch,
        metadata: metadata ?? '',
        errorCode: 0,
      })
    })
  }
})
