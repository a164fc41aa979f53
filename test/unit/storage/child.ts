import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs a module of this source in a process of its own; resolves once it printed `ready`. */
export async function child(source: string): Promise<{ kill: () => Promise<void>; lines: () => string[] }> {
  const process_ = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  process_.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const exited = once(process_, 'exit')
  while (!output.includes('ready\n'))
    await Promise.race([once(process_.stdout, 'data'), exited.then(() => Promise.reject(new Error('the child ended')))])
  return {
    kill: async () => {
      process_.kill('SIGKILL')
      await exited
    },
    lines: () => output.split('\n').slice(0, -1),
  }
}
