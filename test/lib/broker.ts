import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, type WriteStream } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** A port of 127.0.0.1 that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** A Frazil in a process of its own, on a folder and ports of its own, for suites that judge it from outside. */
export class Broker {
  readonly folder: string
  readonly settings: Readonly<Record<string, string>>
  kafkaPort = 0
  httpPort = 0
  #child: ChildProcess | null = null
  #log: WriteStream | null = null

  /** `settings` are flags without the dashes, as `{ 'wal-grace-ms': '1000' }`. */
  constructor(settings: Readonly<Record<string, string>> = {}, folder = mkdtempSync(join(tmpdir(), 'frazil-test-'))) {
    this.settings = settings
    this.folder = folder
  }

  get bootstrap(): string {
    return `127.0.0.1:${this.kafkaPort}`
  }

  get http(): string {
    return `http://127.0.0.1:${this.httpPort}`
  }

  get pid(): number {
    return this.#child?.pid ?? -1
  }

  get logFile(): string {
    return join(this.folder, 'broker.log')
  }

  /** Starts on the same folder and ports as before; resolves when ready. */
  async start(): Promise<void> {
    this.kafkaPort ||= await freePort()
    this.httpPort ||= await freePort()
    const flags = Object.entries({
      listeners: `PLAINTEXT://127.0.0.1:${this.kafkaPort}`,
      http: `127.0.0.1:${this.httpPort}`,
      store: `file:${join(this.folder, 'data')}`,
      pod: 'test',
      ...this.settings,
    }).flatMap(([name, value]) => [`--${name}`, value])
    this.#log ??= createWriteStream(this.logFile, { flags: 'a' })
    const child = spawn(process.execPath, [join(root, 'bin', 'frazil.js'), 'serve', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.pipe(this.#log, { end: false })
    child.stderr.pipe(this.#log, { end: false })
    this.#child = child
    const deadline = Date.now() + 180_000
    for (;;) {
      if (child.exitCode !== null) throw new Error(`the broker ended with ${child.exitCode}: ${this.tail()}`)
      const ready = await fetch(`${this.http}/health/ready`).then(
        (answer) => answer.ok,
        () => false,
      )
      if (ready) return
      if (Date.now() > deadline) throw new Error(`the broker is not ready after 180 s: ${this.tail()}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Ends the process with a signal and waits until it is gone. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.end(signal)
  }

  /** As `stop`: the exit code, null when the signal itself ended it, and how long it took. */
  async end(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly ms: number }> {
    const child = this.#child
    const from = Date.now()
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return { code: child?.exitCode ?? null, ms: 0 }
    const gone = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.kill(signal)
    return { code: await gone, ms: Date.now() - from }
  }

  async restart(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.stop(signal)
    await this.start()
  }

  /** The sum of a metric over its labels. */
  async metric(name: string): Promise<number> {
    const ask = (): Promise<Response> => fetch(`${this.http}/metrics`)
    // a connection that was closed while this process stood still is found out by the first try
    const text = await (await ask().catch(ask)).text()
    const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    if (lines.length === 0) throw new Error(`/metrics has no ${name}`)
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  }

  /** Waits until no WAL object is left: everything is in table files. */
  async drained(timeoutMs = 120_000): Promise<void> {
    const deadline = Date.now() + timeoutMs
    for (;;) {
      const left = await this.metric('frazil_wal_objects')
      if (left === 0) return
      if (Date.now() > deadline) throw new Error(`${left} WAL objects are left after ${timeoutMs} ms`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  tail(lines = 20): string {
    try {
      return readFileSync(this.logFile, 'utf8').split('\n').slice(-lines).join('\n')
    } catch {
      return ''
    }
  }

  async destroy(): Promise<void> {
    await this.stop('SIGKILL')
    this.#log?.end()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
