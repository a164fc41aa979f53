import { randomBytes } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { silentLogger } from '../../../src/base/log.ts'
import type { PeerLink } from '../../../src/pods/port.ts'
import { TcpNetwork } from '../../../src/pods/tcp.ts'

const open: TcpNetwork[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((network) => network.close()))
})

function network(secret = 'secret'): TcpNetwork {
  const host = '127.0.0.1'
  const made = new TcpNetwork({
    host,
    port: 0,
    advertised: { host, port: 0 },
    secret: Buffer.from(secret),
    random: randomBytes,
    clock: systemClock,
    logger: silentLogger,
  })
  open.push(made)
  return made
}

async function linked(): Promise<{ ours: PeerLink; theirs: PeerLink; received: Buffer[] }> {
  const received: Buffer[] = []
  let accepted: (link: PeerLink) => void = () => {}
  const theirs = new Promise<PeerLink>((resolve) => (accepted = resolve))
  const address = await network().listen((link) => {
    link.onMessage = (message) => received.push(Buffer.from(message))
    accepted(link)
  })
  const ours = await network().dial(address)
  return { ours, theirs: await theirs, received }
}

const until = async (done: () => boolean): Promise<void> => {
  for (let i = 0; i < 500 && !done(); i++) await systemClock.sleep(5)
  expect(done()).toBe(true)
}

describe('links over TCP', () => {
  it('give who dialed the first message also when it comes in one piece with the end of the handshake', async () => {
    const address = await network().listen((link) => {
      link.onMessage = () => {}
      for (const text of ['hello', 'then']) link.send(Buffer.from(text))
    })
    // holds what the acceptor answers to the proof until all of it is there
    const proxy = createServer((near) => {
      const far = connect(Number(address.split(':')[1]), '127.0.0.1')
      near.on('data', (chunk) => far.write(chunk)).on('close', () => far.destroy())
      let held: Buffer[] | null = null
      far.on('data', (chunk) => {
        if (held !== null) return void held.push(chunk)
        near.write(chunk)
        held = []
        setTimeout(() => near.write(Buffer.concat(held!)), 100)
      })
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const received: string[] = []
    const link = await network().dial(`127.0.0.1:${(proxy.address() as { port: number }).port}`)
    link.onMessage = (message) => received.push(message.toString())
    await until(() => received.length === 2)
    expect(received).toEqual(['hello', 'then'])
    link.close()
    proxy.close()
  })

  it('carry messages whole and in order, both ways, whatever their size', async () => {
    const { ours, theirs, received } = await linked()
    const sent = [0, 1, 100, 70_000, 3_000_000, 5].map((size) => randomBytes(size))
    for (const message of sent) expect(ours.send(message)).toBe(true)
    await until(() => received.length === sent.length)
    expect(received.map((message, i) => message.equals(sent[i]!))).toEqual(sent.map(() => true))
    const back: Buffer[] = []
    ours.onMessage = (message) => back.push(message)
    theirs.send(Buffer.from('back'))
    await until(() => back.length === 1)
    let closed = 0
    theirs.onClose = () => closed++
    ours.close()
    await until(() => closed === 1)
    expect([ours.send(Buffer.from('x')), theirs.send(Buffer.from('x'))]).toEqual([false, false])
  })

  it('what comes to a link that was closed with messages still to be sent is not looked at', async () => {
    const { ours, theirs, received } = await linked()
    const answers: Buffer[] = []
    let isClosed = false
    ours.onMessage = (message) => answers.push(message)
    ours.onClose = () => (isClosed = true)
    theirs.onMessage = (message) => {
      received.push(message)
      if (received.length === 1) theirs.send(Buffer.alloc(1000))
    }
    ours.send(Buffer.from('first'))
    const large = Buffer.alloc(8 * 1024 * 1024)
    for (let i = 0; i < 4; i++) expect(ours.send(large)).toBe(true)
    ours.close()
    await until(() => isClosed && received.length === 5)
    expect(answers).toEqual([])
  })

  it('nobody listens: REFUSED; another secret: closed, and the other end hears nothing', async () => {
    const silent = network()
    const address = await silent.listen(() => expect.unreachable())
    await expect(network('other').dial(address)).rejects.toMatchObject({ code: 'CLOSED', message: expect.stringContaining('--pod-secret') })
    await silent.close()
    await expect(network().dial(address)).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(network().dial('nonsense')).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('a changed, added or repeated frame ends the link before anyone sees it', async () => {
    const { ours, received } = await linked()
    expect(ours.send(Buffer.from('good'))).toBe(true)
    await until(() => received.length === 1)
    // A proxy between two pods that repeats the first sealed frame.
    const address = await network().listen((link) => {
      link.onMessage = (message) => received.push(Buffer.from(message))
    })
    const proxy = createServer((client) => {
      const server = connect(Number(address.split(':')[1]), '127.0.0.1')
      server.pipe(client)
      let sealed = 0
      client.on('data', (chunk) => {
        server.write(chunk)
        if (sealed++ > 0) server.write(chunk)
      })
      client.on('error', () => server.destroy())
      server.on('error', () => client.destroy())
      server.on('close', () => client.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const link = await network().dial(`127.0.0.1:${(proxy.address() as { port: number }).port}`)
    let closed = false
    link.onClose = () => (closed = true)
    link.send(Buffer.from('once'))
    await until(() => closed)
    expect(received.map(String)).toEqual(['good', 'once'])
    proxy.close()
  })

  it('what is no pod is closed without a word more', async () => {
    const address = await network().listen(() => expect.unreachable())
    const socket = connect(Number(address.split(':')[1]), '127.0.0.1')
    const ended = new Promise((resolve) => socket.once('close', resolve))
    let bytes = 0
    socket.on('data', (chunk) => (bytes += chunk.length))
    socket.on('error', () => {})
    socket.write(Buffer.alloc(1000, 7))
    await ended
    expect(bytes).toBe(36)
  })
})
