import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')
const folder = join(root, 'test/hazards')
const page = readFileSync(join(folder, 'README.md'), 'utf8')
const lines = page.split('\n').filter((line) => /^\| [A-Z]\d+ +\|/.test(line))

/** Every hazard that must have a test or a reason. */
const IDS =
  'A1 A2 A3 A4 A7 A8 A9 A10 B4 B5 B6 B7 B9 B11 B12 B13 B14 B15 B16 B17 B19 B20 E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12 E13 ' +
  'F4 F5 F6 F7 F8 I4 I5 I6 I7 I9 I10 I11 I12 I13 I14 I15 I16 J5 J7 J8 J9 J10 J11 J12 J13 J14 J15 J16 J17 J18 L1 L2 L3 L4 L5 L6 L7 L8'

describe('test/hazards/README.md', () => {
  it('has a line for every hazard, once, with something that stands for it', () => {
    const ids = lines.map((line) => /^\| ([A-Z]\d+)/.exec(line)![1])
    expect(IDS.split(' ').filter((id) => !ids.includes(id))).toEqual([])
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
    expect(lines.filter((line) => !line.includes('.ts`'))).toEqual([])
  })

  it('names every test of the folder, under each id in its name', () => {
    const missing = readdirSync(folder)
      .filter((name) => name.endsWith('.test.ts'))
      .flatMap((name) =>
        /^((?:[A-Z]\d+-)+)/
          .exec(name)![1]!
          .split('-')
          .filter((id) => id !== '' && !lines.some((line) => line.startsWith(`| ${id} `) && line.includes(`\`${name}\``)))
          .map((id) => `${id}: ${name}`),
      )
    expect(missing).toEqual([])
  })

  it('names files that are there', () => {
    const named = [...page.matchAll(/`([\w./-]+\.ts)`/g)].map((match) => match[1]!)
    expect(named.length).toBeGreaterThan(80)
    expect(named.filter((name) => !existsSync(name.startsWith('test/') ? join(root, name) : join(folder, name)))).toEqual([])
  })

  it('quotes tests by their names', () => {
    const wrong = lines.flatMap((line) =>
      [...line.matchAll(/`(test\/[\w./-]+\.ts)` \("([^"]+)"\)/g)]
        .filter(([, file, name]) => !readFileSync(join(root, file!), 'utf8').includes(name!))
        .map(([, file, name]) => `${file}: ${name}`),
    )
    expect(wrong).toEqual([])
  })
})
