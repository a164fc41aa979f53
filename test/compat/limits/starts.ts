import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Broker, freePort } from '../../lib/broker.ts'
import { batchOf, createTopic, produce, RawClient } from './client.ts'
import { check } from './report.ts'

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'bin', 'frazil.js')

interface Ended {
  readonly code: number | null
  readonly output: string
  readonly ms: number
}

/** Starts a process that is expected to end by itself. */
function ends(args: readonly string[], environment: Record<string, string> = {}, cwd = tmpdir()): Promise<Ended> {
  return new Promise((resolve) => {
    const from = Date.now()
    const child = spawn(process.execPath, [bin, 'serve', ...args], { cwd, env: { ...process.env, ...environment } })
    let output = ''
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output, ms: Date.now() - from })
    })
  })
}

/** The one line that is not of the log. */
const sentences = (output: string): string[] => output.split('\n').filter((line) => line !== '' && !line.startsWith('{"level":'))

/** Part 3: a folder that belongs to another process, and settings that are wrong. */
export async function starts(): Promise<void> {
  await secondProcess()
  await wrongSettings()
}

async function secondProcess(): Promise<void> {
  const broker = new Broker()
  await broker.start()
  const outside = mkdtempSync(join(tmpdir(), 'frazil-starts-'))
  try {
    const client = await RawClient.open(broker.kafkaPort)
    await createTopic(client, 'kept', 1)
    await produce(client, 'kept', 0, batchOf([Buffer.from('one')]))
    const data = join(broker.folder, 'data')
    // as a writer in another container would leave it while it writes: no process here has that id
    const unfinished = join(data, '.tmp', '4194305-77-0-0000-0')
    writeFileSync(unfinished, 'x')
    symlinkSync(data, join(outside, 'link'))
    const own = ['--listeners', `PLAINTEXT://127.0.0.1:${await freePort()}`, '--http', `127.0.0.1:${await freePort()}`]
    const elsewhere = join(outside, 'elsewhere')
    const tries: Record<string, readonly string[]> = {
      'the same folder': ['--store', `file:${data}`],
      'by a link': ['--store', `file:${join(outside, 'link')}`],
      'by a relative path': ['--store', `file:${relative(outside, data)}`],
      'as a URL': ['--store', `file://${data}`],
      'its metadata alone': ['--store', `file:${elsewhere}`, '--metadata', `file:${data}`],
      'its data alone': ['--store', `file:${data}`, '--metadata', `file:${elsewhere}`],
    }
    const attempt = async ([name, args]: readonly [string, readonly string[]]): Promise<Ended & { readonly name: string }> => ({
      name,
      ...(await ends([...own, ...args], {}, outside)),
    })
    const [first, ...others] = Object.entries(tries)
    const alone = await attempt(first)
    for (const { name, code, output, ms } of [alone, ...(await Promise.all(others.map(attempt)))]) {
      const said = sentences(output)
      const refused = said.length === 1 && /belongs to another running process \(pod "test", process \d+\)/.test(said[0])
      const good = code === 1 && refused && (name !== alone.name || ms < 12_000)
      check(`a second process is refused: ${name}`, good, `exit ${code} after ${ms} ms${good ? '' : `: ${output.slice(0, 500)}`}`)
    }
    check('it has not touched the first one’s unfinished files', existsSync(unfinished))
    const { error, baseOffset } = await produce(client, 'kept', 0, batchOf([Buffer.from('two')]))
    check('and the first goes on', error === 0 && baseOffset === 1)
    await client.destroy()
    await broker.restart('SIGKILL')
    check('what a dead process left goes at the next start', !existsSync(unfinished))
  } finally {
    await broker.destroy()
    rmSync(outside, { recursive: true, force: true })
  }
}

async function wrongSettings(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'frazil-settings-'))
  const taken = new Broker()
  await taken.start()
  const yaml = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  mkdirSync(join(folder, 'a-folder'))
  writeFileSync(join(folder, 'a-file'), '')
  const cases: readonly (readonly [args: readonly string[], names: RegExp, environment?: Record<string, string>])[] = [
    [['--nonsense', '1'], /--nonsense/],
    [['stray'], /stray/],
    [['--wal-linger-ms'], /--wal-linger-ms/],
    [['--wal-linger-ms', 'soon'], /--wal-linger-ms/],
    [['--wal-linger-ms', '-1'], /--wal-linger-ms/],
    [['--wal-max-bytes', '1e9'], /--wal-max-bytes/],
    [['--cache-bytes', '9223372036854775807'], /cache-bytes/],
    [['--convert-workers', '0'], /--convert-workers/],
    [['--fsync', 'maybe'], /--fsync/],
    [['--conversion', 'later'], /--conversion/],
    [['--log-level', 'loud'], /--log-level/],
    [['--pod', ''], /--pod/],
    [['--num-partitions', '0'], /--num-partitions/],
    [['--log-cleanup-policy', 'burn'], /--log-cleanup-policy/],
    [['--listeners', 'nonsense'], /listeners/],
    [['--listeners', ''], /listeners/],
    [['--listeners', 'SSL://127.0.0.1:1'], /listeners/],
    [['--listeners', 'PLAINTEXT://127.0.0.1:99999'], /listeners/],
    [['--listeners', 'PLAINTEXT://127.0.0.1:1,PLAINTEXT://127.0.0.1:2'], /listeners/],
    [['--listeners', `PLAINTEXT://127.0.0.1:${taken.kafkaPort}`], /listeners: .* in use/],
    [['--listeners', 'PLAINTEXT://192.0.2.1:1'], /listeners/],
    [['--advertised-listeners', 'x'], /advertised.listeners/],
    [['--advertised-listeners', 'PLAINTEXT://0.0.0.0:1'], /advertised.listeners/],
    [['--http', 'x'], /http/],
    [['--http', `127.0.0.1:${taken.httpPort}`], /http: .* in use/],
    [['--http', '192.0.2.1:1'], /http/],
    [['--store', 's3://'], /store: .*names no bucket/],
    [['--store', 'nonsense'], /store/],
    [['--store', 'file:'], /store/],
    [['--store', `file:${folder}/a-file`], /store/],
    [['--metadata', 'postgres://'], /metadata: .*names no database/],
    [['--metadata', `file:${folder}/a-file/b`], /metadata/],
    [['--config', join(folder, 'no-such.yaml')], /config/],
    [['--config', join(folder, 'a-folder')], /config/],
    [['--config', yaml('broken.yaml', '{a: [')], /broken.yaml/],
    [['--config', yaml('list.yaml', '- 1')], /list.yaml/],
    [['--config', yaml('unknown.yaml', 'walls: 1')], /unknown.yaml .*walls/],
    [['--config', yaml('wrong.yaml', 'wal-linger-ms: soon')], /wal-linger-ms in .*wrong.yaml/],
    [[], /FRAZIL_WAL_LINGER_MS/, { FRAZIL_WAL_LINGER_MS: 'soon' }],
    [[], /FRAZIL_NUM_PARTITIONS/, { FRAZIL_NUM_PARTITIONS: '0' }],
  ]
  let next = 0
  let wrong = 0
  const port = await freePort()
  const work = async (worker: number): Promise<void> => {
    for (let at = next++; at < cases.length; at = next++) {
      const [args, names, environment] = cases[at]
      const given = (flag: string, value: string): string[] => (args.includes(flag) ? [] : [flag, value])
      const all = [
        ...given('--store', `file:${folder}/data-${worker}`),
        ...given('--listeners', `PLAINTEXT://127.0.0.1:${args.includes('--http') ? 0 : port}`),
        ...given('--http', '127.0.0.1:0'),
        ...args,
      ]
      const { code, output } = await ends(all, environment)
      const said = sentences(output)
      if (code === 1 && said.length === 1 && said[0].startsWith('frazil: ') && names.test(said[0])) continue
      wrong++
      check(`wrong setting: ${args.join(' ')} ${JSON.stringify(environment ?? '')}`, false, `exit ${code}: ${output.slice(0, 400)}`)
    }
  }
  try {
    await Promise.all([work(0), work(1), work(2)])
    check(`${cases.length} wrong settings: one sentence that names the setting, exit 1`, wrong === 0)
  } finally {
    await taken.destroy()
    rmSync(folder, { recursive: true, force: true })
  }
}
