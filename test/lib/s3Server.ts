import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './broker.ts'

const script = join(dirname(fileURLToPath(import.meta.url)), '..', 'compat', 's3', 'servers.sh')

/** A real S3 server on loopback (test/compat/s3/servers.sh) with the bucket `frazil`, for suites that judge from outside. */
export class S3Server {
  readonly folder = mkdtempSync(join(tmpdir(), 'frazil-s3-'))
  endpoint = ''

  #port = 0

  /** Installs and starts it, and puts what clients need into this process's environment, which brokers and engines inherit. */
  static async start(): Promise<S3Server> {
    const server = new S3Server()
    server.#port = await freePort()
    execFileSync('bash', [script, 'fetch', 'versitygw'], { stdio: 'inherit', timeout: 600_000 })
    server.run()
    server.endpoint = process.env['AWS_ENDPOINT_URL']!
    return server
  }

  /** Starts the process, again on the same data and port after it was killed. */
  run(): void {
    // not a pipe: the server would hold it open
    const line = `bash "${script}" start versitygw ${this.#port} "${this.folder}" >"${this.folder}/env" && cat "${this.folder}/env"`
    const settings = execFileSync('bash', ['-c', line], { encoding: 'utf8', timeout: 60_000 })
    for (const [, name, value] of settings.matchAll(/^export (\w+)=(.*)$/gm)) process.env[name!] = value
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(Number(readFileSync(join(this.folder, 'pid'), 'utf8')), signal)
  }

  /** Flags of a broker whose store is here. */
  settings(prefix: string): Readonly<Record<string, string>> {
    return { store: `s3://frazil/${prefix}`, 's3-endpoint': this.endpoint, 's3-path-style': 'true' }
  }

  stop(): void {
    execFileSync('bash', [script, 'stop', this.folder])
    rmSync(this.folder, { recursive: true, force: true })
  }
}
