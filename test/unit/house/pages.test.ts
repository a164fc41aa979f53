import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

describe('pages', () => {
  it('bench/README.md names every bench', () => {
    const page = read('bench/README.md')
    const missing = readdirSync(join(root, 'bench')).filter((name) => name.endsWith('.ts') && !page.includes(`\`${name}\``))
    expect(missing).toEqual([])
  })

  it('name every suite and bench that npm runs, and none that it does not', () => {
    const pages = ['README.md', 'test/README.md', 'bench/README.md'].map(read).join('\n')
    const named = new Set([...pages.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map((match) => match[1]!))
    const runs = Object.entries(scripts).filter(([, command]) => /^node (bench|test)\//.test(command))
    expect(runs.map(([name]) => name).filter((name) => !named.has(name))).toEqual([])
    expect([...named].filter((name) => !(name in scripts))).toEqual([])
  })

  it('link to what is there', () => {
    const page = read('README.md')
    const links = [...page.matchAll(/\]\(([\w./-]+)\)/g)].map((match) => match[1]!)
    expect(links.length).toBeGreaterThan(5)
    const missing = links.filter((link) => !readdirSync(dirname(join(root, link))).includes(link.split('/').at(-1)!))
    expect(missing).toEqual([])
  })
})
