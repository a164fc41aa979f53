import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { loadSettings } from '../base/config/load.ts'
import { FrazilError } from '../base/errors.ts'
import { configDocs, helpText } from './help.ts'

function readYaml(path: string): unknown {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new FrazilError('SETTING_INVALID', `config: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, error)
  }
  try {
    return parse(text)
  } catch (error) {
    throw new FrazilError('SETTING_INVALID', `config: ${path} is no YAML (${(error as Error).message.split('\n')[0]})`, error)
  }
}

/** On a signal npm ends the shell it started us in, and nothing else: without this the broker would live on and keep the folder. */
function endWithParent(): void {
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  look.unref()
}

async function run(args: readonly string[]): Promise<void> {
  const command = args[0]
  if (command === undefined || command === 'help' || args.includes('--help') || args.includes('-h')) {
    process.stdout.write(helpText())
  } else if (command === 'serve') {
    const settings = loadSettings(args.slice(1), process.env, readYaml)
    // bin/frazil.js on an older Node waits for this process: when it is killed, so are we
    if (process.channel !== undefined && process.channel !== null) process.once('disconnect', () => process.exit(1))
    if (process.env['npm_lifecycle_event'] !== undefined) endWithParent()
    const { serve } = await import('../main.ts')
    await serve(settings)
  } else if (command === 'check') {
    const own = new Set(['--repair', '--quick'])
    const settings = loadSettings(
      args.slice(1).filter((arg) => !own.has(arg)),
      process.env,
      readYaml,
    )
    const { check } = await import('./check.ts')
    process.exitCode = await check(settings, { repair: args.includes('--repair'), quick: args.includes('--quick') })
  } else if (command === 'restore') {
    const { restore } = await import('./restore.ts')
    await restore(loadSettings(args.slice(1), process.env, readYaml))
  } else if (command === 'hold' || command === 'release' || command === 'holds') {
    const rest = args.slice(1)
    const name = command === 'holds' || rest[0]?.startsWith('--') ? undefined : rest.shift()
    const at = rest.indexOf('--minutes')
    const minutes = at < 0 ? null : (rest.splice(at, 2)[1] ?? '')
    const { hold } = await import('./hold.ts')
    await hold(command, name, minutes, loadSettings(rest, process.env, readYaml))
  } else if (command === 'config-docs') {
    process.stdout.write(configDocs())
  } else if (command === 'version' || command === '--version') {
    const { version } = await import('./version.ts')
    process.stdout.write(`${version()}\n`)
  } else {
    throw new FrazilError('SETTING_INVALID', `unknown command "${command}"; frazil --help lists them`)
  }
}

run(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof FrazilError) process.stderr.write(`frazil: ${error.message}\n`)
  else process.stderr.write(`frazil: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exit(1)
})
