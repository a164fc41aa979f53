import { expect, test } from 'vitest'
import { Client, METADATA, PRODUCE, request, response, start, until } from '../unit/server/help.ts'

// K6: a correlation id grew past 32 bits. On the wire it wraps to negative; the broker gives back what it was given.

test('ids that pass 2^31-1 come back as they were', async () => {
  const { server, port } = await start(async (_, header) => response(header.correlationId))
  const client = await Client.open(port)
  const ids = [2147483646, 2147483647, -2147483648, -2147483647, -1, 0]
  client.send(...ids.map((id, i) => request(i % 2 === 0 ? PRODUCE : METADATA, id)))
  await until(() => client.responses.length === ids.length)
  expect(client.ids).toEqual(ids)
  await server.close(0)
})
