import { createServer, connect, type Server, type Socket } from 'node:net'
import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { FrazilError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { MESSAGE_BYTES_MAX } from './messages.ts'
import type { PeerLink, PeerNetwork } from './port.ts'
import { Seal, proofOf, type Side } from './seal.ts'

export interface TcpNetworkOptions {
  /** Where to listen; port 0 picks one. */
  readonly host: string
  readonly port: number
  /** What other pods dial, its port 0 meaning the one that was picked. */
  readonly advertised: { readonly host: string; readonly port: number }
  /** Known to the pods of one cluster only. */
  readonly secret: Uint8Array
  readonly random: (bytes: number) => Uint8Array
  readonly clock: Clock
  readonly logger: Logger
}

const MAGIC = Buffer.from('FZP1', 'latin1')
const NONCE_BYTES = 32
const PROOF_BYTES = 32
const MAC_BYTES = 16
const HANDSHAKE_MS = 5000
/** What may wait for a peer that does not read: it is behind, and reads the log. */
const UNSENT_BYTES_MAX = 32 << 20
const LINKS_MAX = 1000

/**
 * Links over TCP. Both sides prove that they know the secret before anything else is read (challenge and HMAC-SHA-256), and every message
 * carries an HMAC over its number, so that nobody on the way can add, change, repeat or drop one. Not encrypted: what is secret in
 * records is so on the way to clients as well, by TLS, and among pods by the network they share.
 */
export class TcpNetwork implements PeerNetwork {
  readonly #options: TcpNetworkOptions
  readonly #sockets = new Set<Socket>()
  #server: Server | null = null

  constructor(options: TcpNetworkOptions) {
    this.#options = options
  }

  listen(accept: (link: PeerLink) => void): Promise<string> {
    const { host, port, advertised, random } = this.#options
    const server = createServer((socket) => {
      const nonce = random(NONCE_BYTES)
      const link = this.#link(socket, 'accept', Buffer.from(nonce), () => accept(link))
      socket.write(Buffer.concat([MAGIC, nonce]))
    })
    server.maxConnections = LINKS_MAX
    this.#server = server
    server.on('error', (error) => this.#options.logger.warn({ reason: error.message }, 'a connection of another pod could not be taken'))
    return new Promise((resolve, reject) => {
      server.once('error', (error) =>
        reject(new FrazilError('SETTING_INVALID', `pod-listener: ${host}:${port} cannot be listened on: ${error.message}`)),
      )
      server.listen(port, host, () => {
        const bound = server.address() as { port: number }
        resolve(`${advertised.host.includes(':') ? `[${advertised.host}]` : advertised.host}:${advertised.port || bound.port}`)
      })
    })
  }

  dial(address: string): Promise<PeerLink> {
    const match = /^(?:\[(.+)\]|([^[\]]+)):(\d+)$/.exec(address)
    if (match === null) return Promise.reject(new FrazilError('CLOSED', `${address} is no address of a pod`))
    const socket = connect({ host: match[1] ?? match[2]!, port: Number(match[3]) })
    return new Promise((resolve, reject) => {
      let failure: Error | null = null
      socket.once('error', (error) => (failure = error))
      const link = this.#link(socket, 'dial', Buffer.from(this.#options.random(NONCE_BYTES)), () => resolve(link))
      link.onClose = () => {
        const refused = (failure as NodeJS.ErrnoException | null)?.code === 'ECONNREFUSED'
        const reason = failure === null ? 'it closed the connection: does it have the same --pod-secret?' : failure.message
        reject(new FrazilError(refused ? 'REFUSED' : 'CLOSED', `the pod at ${address} cannot be reached: ${reason}`))
      }
    })
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    const server = this.#server
    if (server !== null) await new Promise((resolve) => server.close(resolve))
  }

  #link(socket: Socket, side: Side, nonce: Buffer, opened: () => void): TcpLink {
    const { clock, secret, logger } = this.#options
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 30_000)
    const link = new TcpLink(socket, side, nonce, secret, opened)
    const timer = clock.timer(HANDSHAKE_MS, () => link.open || socket.destroy())
    socket.on('error', (error) => logger.debug({ reason: error.message }, 'a connection between pods failed'))
    socket.on('close', () => {
      timer.cancel()
      this.#sockets.delete(socket)
      link.onClose()
    })
    return link
  }
}

class TcpLink implements PeerLink {
  onClose: () => void = () => {}
  open = false
  readonly #socket: Socket
  readonly #side: Side
  readonly #nonce: Buffer
  readonly #secret: Uint8Array
  readonly #opened: () => void
  #seal: Seal | null = null
  #chunks: Buffer[] = []
  #bytes = 0
  #wanted: number
  #onMessage: ((message: Buffer) => void) | null = null
  #taking = false
  /** By this end; what was sent before may still be on its way. */
  #closed = false

  constructor(socket: Socket, side: Side, nonce: Buffer, secret: Uint8Array, opened: () => void) {
    this.#socket = socket
    this.#side = side
    this.#nonce = nonce
    this.#secret = secret
    this.#opened = opened
    // the acceptor's magic and nonce; the dialer's nonce and proof
    this.#wanted = side === 'dial' ? MAGIC.length + NONCE_BYTES : NONCE_BYTES + PROOF_BYTES
    socket.on('data', (chunk: Buffer) => this.#received(chunk))
  }

  /** Messages wait for it: the first may come with the last bytes of the handshake, before who dialed has the link. */
  set onMessage(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage
    if (!this.#taking) this.#takeAll()
  }

  send(message: Uint8Array): boolean {
    if (!this.open || this.#socket.destroyed || this.#socket.writableLength > UNSENT_BYTES_MAX || message.length > MESSAGE_BYTES_MAX)
      return false
    const head = Buffer.allocUnsafe(4)
    head.writeUInt32BE(message.length)
    this.#socket.cork()
    this.#socket.write(head)
    this.#socket.write(message)
    this.#socket.write(this.#seal!.ours(message))
    this.#socket.uncork()
    return true
  }

  close(): void {
    this.open = false
    this.#closed = true
    if (this.#socket.writableLength === 0) this.#socket.destroy()
    else this.#socket.end(() => this.#socket.destroy())
  }

  #received(chunk: Buffer): void {
    if (this.#closed) return
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    this.#takeAll()
  }

  #takeAll(): void {
    this.#taking = true
    while (!this.#closed && this.#bytes >= this.#wanted && !this.#socket.destroyed && !(this.open && this.#onMessage === null)) {
      const joined = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
      const taken = this.#take(joined)
      if (taken === 0) {
        this.#chunks = [joined]
        continue
      }
      this.#chunks = taken === joined.length ? [] : [joined.subarray(taken)]
      this.#bytes -= taken
    }
    this.#taking = false
  }

  /** Takes what is whole from the front; how many bytes that were. 0 when more is wanted than there is. */
  #take(bytes: Buffer): number {
    if (!this.open) return this.#handshake(bytes)
    const length = bytes.readUInt32BE(0)
    if (length > MESSAGE_BYTES_MAX) return this.#fail(bytes)
    const whole = 4 + length + MAC_BYTES
    if (bytes.length < whole) {
      this.#wanted = whole
      return 0
    }
    this.#wanted = 4
    const message = bytes.subarray(4, 4 + length)
    if (!this.#seal!.isTheirs(message, bytes.subarray(4 + length, whole))) return this.#fail(bytes)
    this.#onMessage!(message)
    return whole
  }

  #handshake(bytes: Buffer): number {
    const taken = this.#wanted
    if (this.#side === 'dial' && this.#seal === null) {
      if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return this.#fail(bytes)
      const theirs = bytes.subarray(MAGIC.length, taken)
      this.#seal = new Seal(this.#secret, 'dial', theirs, this.#nonce)
      this.#socket.write(Buffer.concat([this.#nonce, proofOf(this.#secret, 'dial', theirs, this.#nonce)]))
      this.#wanted = PROOF_BYTES
      return taken
    }
    const accepts = this.#side === 'accept'
    const theirs = bytes.subarray(0, NONCE_BYTES)
    const proof = accepts ? bytes.subarray(NONCE_BYTES, taken) : bytes.subarray(0, taken)
    const wanted = accepts ? proofOf(this.#secret, 'dial', this.#nonce, theirs) : this.#seal!.proofOfAcceptor
    if (!timingSafeEqual(proof, wanted)) return this.#fail(bytes)
    if (accepts) {
      this.#seal = new Seal(this.#secret, 'accept', this.#nonce, theirs)
      this.#socket.write(this.#seal.proofOfAcceptor)
    }
    this.open = true
    this.#wanted = 4
    this.#opened()
    return taken
  }

  #fail(bytes: Buffer): number {
    this.#socket.destroy()
    return bytes.length
  }
}
