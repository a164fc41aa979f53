import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_CASES } from './adminCases.ts'
import { apiWorld, type ApiWorld } from './harness.ts'
import { comparable, KAFKA_CASES, type KafkaCase } from './kafkaCases.ts'

/** The answers of Apache Kafka 4.4.0, recorded by test/fixtures/api/record.ts. */
const SETS: readonly { readonly file: string; readonly cases: readonly KafkaCase[]; readonly level: number }[] = [
  { file: 'kafka-answers', cases: KAFKA_CASES, level: 1 },
  { file: 'kafka-admin-answers', cases: ADMIN_CASES, level: 2 },
]

for (const { file, cases, level } of SETS) {
  const url = new URL(`../../fixtures/api/${file}.json`, import.meta.url)
  const recorded = JSON.parse(readFileSync(url, 'utf8')) as Record<string, unknown>

  describe(`the answers of Apache Kafka 4.4.0: ${file}`, () => {
    let world: ApiWorld
    const ids = new Map<string, string>()
    beforeAll(async () => (world = await apiWorld({ level, broker: { 'num.partitions': '4' } })))
    afterAll(() => world.close())

    /** What later requests need: ids of new topics, and the id that a member was given. */
    function remember(key: number, version: number, answer: unknown): void {
      const { topics = [], memberId = '' } = answer as {
        topics?: { name: string; topicId: string; errorCode: number }[]
        memberId?: string
      }
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
    for (const one of cases) {
      it(`${one.name}${one.differs === undefined ? '' : `, otherwise: ${one.differs}`}`, async () => {
        expect(await answerTo(one)).toEqual(expected(one))
      })
    }
  })
}
