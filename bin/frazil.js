#!/usr/bin/env node
// Runs Frazil on the runtime it ships (the npm package "node"), whatever Node started this file, and with its flags.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Request frames live outside the heap, but count towards a limit of their own at which V8 collects; at its small default
// every few frames cost a full collection (half of all CPU time at 1 MiB batches, see bench/README.md). Counted with the
// heap, garbage is collected when there is enough of it, at the latest when src/base/garbage.ts says so.
const FLAGS = ['--initial-old-space-size=160', '--external-memory-accounted-in-global-limit', '--expose-gc']
const ENVIRONMENT = {
  // Log appends, table files and reads of consumers wait for different threads.
  UV_THREADPOOL_SIZE: '8',
  // glibc gives memory back at every turn and asks for it again; where new pages are slow to come (virtual machines), the
  // pauses show in the latency of requests.
  MALLOC_MMAP_THRESHOLD_: String(32 * 1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(256 * 1024 * 1024),
  MALLOC_TOP_PAD_: String(16 * 1024 * 1024),
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'src', 'cli', 'frazil.ts')
const entry = existsSync(source) ? source : join(root, 'dist', 'src', 'cli', 'frazil.js')
const runtime = Number(process.versions.node.split('.')[0]) >= 24 ? process.execPath : bundledRuntime()
if (runtime === null) {
  console.error('frazil needs Node 24 or later: the bundled runtime (npm package "node") is not installed')
  process.exit(1)
}
const args = [...process.execArgv, ...FLAGS, entry, ...process.argv.slice(2)]
const env = { ...ENVIRONMENT, ...process.env }

if (process.argv[2] !== 'serve' && runtime === process.execPath) {
  await import(entry)
} else if (process.execve !== undefined && process.platform !== 'win32') {
  process.removeAllListeners('warning')
  process.on('warning', () => {}) // execve is marked experimental
  process.execve(runtime, [runtime, ...args], env)
} else {
  // Over the channel the child learns that this process was killed: it must not live on and keep the folder.
  const child = spawn(runtime, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
}

function bundledRuntime() {
  try {
    const require = createRequire(import.meta.url)
    const folder = dirname(require.resolve('node/package.json'))
    const path = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return existsSync(path) ? path : null
  } catch {
    return null
  }
}
