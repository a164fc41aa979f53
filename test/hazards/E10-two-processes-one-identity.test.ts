// E10: a process that was fenced by another one with its identity could not end. The second process on a folder ends by
// itself, with one sentence, and the first goes on. (All the ways to name a folder twice: test/compat/limits/starts.ts.)
import { spawn, type ChildProcess } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { Broker, freePort } from '../lib/broker.ts'

const bin = join(dirname(fileURLToPath(import.meta.url)), '../../bin/frazil.js')
const first = new Broker()
let second: ChildProcess | null = null
afterEach(async () => {
  second?.kill('SIGKILL')
  await first.destroy()
})

test('the second process with one name on one folder exits with 1 and a sentence', async () => {
  await first.start()
  const flags = {
    store: `file:${join(first.folder, 'data')}`,
    pod: 'test',
    listeners: `PLAINTEXT://127.0.0.1:${await freePort()}`,
    http: `127.0.0.1:${await freePort()}`,
  }
  const child = spawn(process.execPath, [bin, 'serve', ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])])
  second = child
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
  const code = await new Promise((resolve) => child.once('close', resolve))
  const sentences = output.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  expect(sentences).toEqual([expect.stringMatching(/belongs to another running process \(pod "test", process \d+\)/)])
  expect(code).toBe(1)
  expect(await first.metric('frazil_metadata_topics')).toBe(0)
})
