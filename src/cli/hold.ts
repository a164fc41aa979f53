import { hostPort } from '../base/config/load.ts'
import type { Settings } from '../base/config/settings.ts'
import { FrazilError } from '../base/errors.ts'

/** What a pod answers of a hold. */
interface Hold {
  readonly name: string
  readonly until: string
}

/** `frazil hold NAME --minutes N`, `frazil release NAME`, `frazil holds`: asks a pod over HTTP (`--http`). Errors: REFUSED. */
export async function hold(command: string, name: string | undefined, minutes: string | null, settings: Settings): Promise<void> {
  if (command !== 'holds' && (name === undefined || name === '')) throw new FrazilError('SETTING_INVALID', `frazil ${command} needs a name`)
  const { host, port } = hostPort('http', settings.http)
  const address = host === '' || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const base = `http://${address.includes(':') ? `[${address}]` : address}:${port}/holds`
  const one = `${base}/${encodeURIComponent(name ?? '')}`
  const method = { hold: 'PUT', release: 'DELETE', holds: 'GET' }[command]!
  const url = { hold: `${one}?minutes=${encodeURIComponent(minutes ?? '120')}`, release: one, holds: base }[command]!
  const answer = await fetch(url, { method }).catch((error: unknown) => {
    throw new FrazilError('REFUSED', `no pod answers at ${base}: name one with --http HOST:PORT`, error)
  })
  const body = (await answer.json()) as { readonly holds?: readonly Hold[]; readonly error?: { readonly message: string } }
  if (!answer.ok) throw new FrazilError('REFUSED', body.error?.message ?? `the pod answered ${answer.status}`)
  const lines = (body.holds ?? []).map((each) => `${each.name}: nothing is deleted until ${each.until}\n`)
  process.stdout.write(lines.length === 0 ? 'nothing is held\n' : lines.join(''))
}
