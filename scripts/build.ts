// Builds the JavaScript that the published package ships: `dist/`, one file per source file. Node strips types from
// sources in a checkout, but never inside node_modules.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
rmSync(join(root, 'dist'), { recursive: true, force: true })
const compiler = join(root, 'node_modules', '.bin', 'tsc')
const done = spawnSync(compiler, ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
if (done.status !== 0) process.exit(done.status ?? 1)
for (const asset of globSync('{src,protocol}/**/*.{proto,json}', { cwd: root })) cpSync(join(root, asset), join(root, 'dist', asset))
