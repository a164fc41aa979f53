import type { FastifyInstance } from 'fastify'
import type { Clock } from '../base/clock.ts'
import type { Metadata } from '../metadata/port.ts'

const MINUTE_MS = 60_000
const DEFAULT_MINUTES = 120

interface HoldAnswer {
  readonly holds: readonly { readonly name: string; readonly until: string }[]
}

/**
 * `/holds`: GET lists those that last, `PUT /NAME?minutes=N` takes or prolongs one, `DELETE /NAME` ends it; each answers all that last.
 * Once a PUT is answered, nothing that the metadata refers to then or later is deleted before the hold ends.
 */
export function registerHolds(app: FastifyInstance, { metadata, clock }: { readonly metadata: Metadata; readonly clock: Clock }): void {
  const list = (): HoldAnswer => {
    const nowMs = clock.wallMs()
    const lasting = [...metadata.state.holds()].filter(([, untilMs]) => untilMs > nowMs).sort(([a], [b]) => (a < b ? -1 : 1))
    return { holds: lasting.map(([name, untilMs]) => ({ name, until: new Date(untilMs).toISOString() })) }
  }
  const propose = async (name: string, forMs: number): Promise<HoldAnswer> => {
    const result = await metadata.propose({ kind: 'holdDeletions', name, forMs })
    if (result.kind === 'refused') throw Object.assign(new Error(result.reason), { statusCode: 400 })
    return list()
  }
  app.get('/', async () => {
    await metadata.barrier()
    return list()
  })
  app.put<{ Params: { name: string }; Querystring: { minutes?: string } }>('/:name', async ({ params, query }) => {
    const minutes = Number(query.minutes ?? DEFAULT_MINUTES)
    if (!(minutes > 0)) throw Object.assign(new Error('minutes: a number above 0 is needed'), { statusCode: 400 })
    return propose(params.name, Math.ceil(minutes * MINUTE_MS))
  })
  app.delete<{ Params: { name: string } }>('/:name', ({ params }) => propose(params.name, 0))
}
