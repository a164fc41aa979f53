import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach } from 'vitest'

export interface Child {
  /** Lines it printed so far, whole ones only. */
  lines(): string[]
  /** Resolves once it printed that many; rejects when it ends before. */
  printed(count: number): Promise<void>
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}

const running = new Set<ChildProcess>()

afterEach(() => {
  for (const process_ of running) process_.kill('SIGKILL')
})

/** Runs a module of this source in a process of its own, which ends with the test; resolves once it printed `ready`. */
export async function child(source: string): Promise<Child> {
  const process_ = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(process_)
  let output = ''
  let ended = false
  process_.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const exited = once(process_, 'close').then(() => {
    ended = true
    running.delete(process_)
  })
  const lines = (): string[] => output.split('\n').slice(0, -1)
  const printed = async (count: number): Promise<void> => {
    while (lines().length < count) {
      if (ended) throw new Error('the child ended')
      await Promise.race([once(process_.stdout, 'data'), exited])
    }
  }
  await printed(1)
  return {
    lines,
    printed,
    kill: async () => {
      process_.kill('SIGKILL')
      await exited
    },
  }
}
