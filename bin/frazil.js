#!/usr/bin/env node
// Runs Frazil on the runtime it ships (the npm package "node"), whatever Node started this file.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'src', 'cli', 'frazil.ts')
const entry = existsSync(source) ? source : join(root, 'dist', 'src', 'cli', 'frazil.js')

if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import(entry)
} else {
  const shipped = bundledRuntime()
  if (shipped === null) {
    console.error('frazil needs Node 24 or later: the bundled runtime (npm package "node") is not installed')
    process.exit(1)
  }
  const child = spawn(shipped, [entry, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
}

function bundledRuntime() {
  try {
    const require = createRequire(import.meta.url)
    const folder = dirname(require.resolve('node/package.json'))
    const name = process.platform === 'win32' ? 'node.exe' : 'node'
    const path = join(folder, 'bin', name)
    return existsSync(path) ? path : null
  } catch {
    return null
  }
}
