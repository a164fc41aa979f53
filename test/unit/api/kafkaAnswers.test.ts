import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiWorld, type ApiWorld } from './harness.ts'
import { comparable, KAFKA_CASES, type KafkaCase } from './kafkaCases.ts'

const recorded = JSON.parse(readFileSync(new URL('../../fixtures/api/kafka-answers.json', import.meta.url), 'utf8')) as Record<
  string,
  unknown
>

let world: ApiWorld
const ids = new Map<string, string>()
beforeAll(async () => (world = await apiWorld({ broker: { 'num.partitions': '4' } })))
afterAll(() => world.close())

/** What later requests need: ids of new topics, and the id that a member was given. */
function remember(key: number, version: number, answer: unknown): void {
  const { topics = [], memberId = '' } = answer as { topics?: { name: string; topicId: string; errorCode: number }[]; memberId?: string }
  if (key === 19 && version === 7) for (const topic of topics) if (topic.errorCode === 0) ids.set(topic.name, topic.topicId)
  if (key === 11 && memberId !== '') ids.set('member', memberId)
}

async function answerTo({ key, version, request }: KafkaCase): Promise<unknown> {
  const pending = world.call(key, version, request(ids) as never, 'frazil')
  await world.clock.advance(key === 11 ? 3_000 : 100)
  const answer = await pending
  remember(key, version, answer)
  return comparable(answer)
}

/** What the answer should be compared with: where we differ on purpose, anything but Kafka's. */
const expected = ({ name, differs }: KafkaCase): unknown =>
  differs === undefined ? recorded[name] : expect.not.objectContaining(recorded[name] as object)

// In the order of the list: later cases build on earlier ones.
describe('the answers of Apache Kafka 4.4.0', () => {
  for (const one of KAFKA_CASES) {
    it(`${one.name}${one.differs === undefined ? '' : `, otherwise: ${one.differs}`}`, async () => {
      expect(await answerTo(one)).toEqual(expected(one))
    })
  }
})
