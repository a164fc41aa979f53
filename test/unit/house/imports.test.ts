import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')

/** What each room may import of ours, besides itself (docs/DESIGN.md, the house). */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  'src/base': [],
  'src/storage': ['src/base'],
  'src/metadata': ['src/storage', 'src/base', 'protocol'],
  'src/wal': ['src/metadata', 'src/storage', 'src/base', 'protocol'],
  'src/log': ['src/wal', 'src/metadata', 'src/base', 'protocol'],
  'src/groups': ['src/metadata', 'src/base', 'protocol'],
  'src/api': ['src/log', 'src/wal', 'src/groups', 'src/metadata', 'src/base', 'protocol'],
  'src/server': ['src/base', 'protocol'],
  'src/schemas': ['src/metadata', 'src/base', 'protocol'],
  'src/tables': ['src/schemas', 'src/log', 'src/wal', 'src/metadata', 'src/storage', 'src/base', 'protocol'],
  'src/catalog': ['src/tables', 'src/metadata', 'src/storage', 'src/base'],
  'src/http': ['src/base'],
  'src/wiring': [
    'src/server',
    'src/pods',
    'src/api',
    'src/groups',
    'src/catalog',
    'src/tables',
    'src/log',
    'src/wal',
    'src/http',
    'src/schemas',
    'src/storage',
    'src/metadata',
    'src/base',
  ],
  'src/pods': ['src/metadata', 'src/wal', 'src/base', 'protocol'],
  'src/check': ['src/tables', 'src/log', 'src/wal', 'src/metadata', 'src/storage', 'src/base', 'protocol'],
  'src/cli': ['src/base', 'src/check', 'src/wiring', 'src/tables', 'src/metadata', 'src/storage', 'src/main.ts'],
}

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? files(path) : name.endsWith('.ts') ? [path] : []
  })
}

function roomOf(path: string): string {
  const parts = relative(root, path).split('/')
  return parts[0] === 'src' ? `src/${parts[1]}` : parts[0]!
}

const sources = [...files(join(root, 'src')), ...files(join(root, 'protocol'))]

describe('the import rule', () => {
  it('knows every room', () => {
    const rooms = new Set(sources.map(roomOf))
    rooms.delete('src/main.ts')
    expect([...rooms].filter((room) => !(room in ALLOWED))).toEqual([])
  })

  it('holds: imports form a DAG, left to right as the record travels', () => {
    const wrong: string[] = []
    for (const path of sources) {
      const room = roomOf(path)
      if (room === 'src/main.ts') continue
      const text = readFileSync(path, 'utf8')
      for (const match of text.matchAll(/(?:from\s+|import\s*\(\s*|new URL\(\s*)'(\.{1,2}\/[^']*)'/g)) {
        const target = roomOf(resolve(dirname(path), match[1]!))
        if (target !== room && !ALLOWED[room]!.includes(target)) wrong.push(`${relative(root, path)} imports ${match[1]}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('gives every room a README of at most one screen', () => {
    const rooms = ['protocol', 'protocol/records', ...readdirSync(join(root, 'src')).map((name) => `src/${name}`)].filter((room) =>
      statSync(join(root, room)).isDirectory(),
    )
    const missing = rooms.filter((room) => {
      const lines = readFileSync(join(root, room, 'README.md'), 'utf8').split('\n')
      return lines.length < 5 || lines.length > 80
    })
    expect(missing).toEqual([])
  })

  it('keeps source files small enough to read', () => {
    const large = sources
      .map((path) => [relative(root, path), readFileSync(path, 'utf8').split('\n').length] as const)
      .filter(([, lines]) => lines > 420)
    expect(large).toEqual([])
  })
})

describe('dependencies', () => {
  it('are each named, with the reason, in docs/DEPENDENCIES.md', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, Record<string, string>>
    const page = readFileSync(join(root, 'docs/DEPENDENCIES.md'), 'utf8')
    const names = [...Object.keys(manifest['dependencies']!), ...Object.keys(manifest['devDependencies']!)]
    expect(names.filter((name) => !new RegExp(`^\\| \`${name}\` +\\|`, 'm').test(page))).toEqual([])
    const pinned = Object.entries({ ...manifest['dependencies'], ...manifest['devDependencies'] }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
    )
    expect(pinned).toEqual([])
  })
})
