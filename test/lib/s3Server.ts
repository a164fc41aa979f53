import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './broker.ts'

const script = join(dirname(fileURLToPath(import.meta.url)), '..', 'compat', 's3', 'servers.sh')

/** A real S3 server on loopback (test/compat/s3/servers.sh) with the bucket `frazil`, for suites that judge from outside. */
export class S3Server {
  readonly folder = mkdtempSync(join(tmpdir(), 'frazil-s3-'))
  endpoint = ''

  /** Installs and starts it, and puts what clients need into this process's environment, which brokers and engines inherit. */
  static async start(): Promise<S3Server> {
    const server = new S3Server()
    const port = await freePort()
    execFileSync('bash', [script, 'fetch', 'versitygw'], { stdio: 'inherit', timeout: 600_000 })
    // not a pipe: the server would hold it open
    const settings = execFileSync(
      'bash',
      ['-c', `bash "${script}" start versitygw ${port} "${server.folder}" >"${server.folder}/env" && cat "${server.folder}/env"`],
      {
        encoding: 'utf8',
        timeout: 60_000,
      },
    )
    for (const [, name, value] of settings.matchAll(/^export (\w+)=(.*)$/gm)) process.env[name!] = value
    server.endpoint = process.env['AWS_ENDPOINT_URL']!
    return server
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
