import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { PLANTS, type Plant } from './plants.ts'

const SEEDS_MAX = 1000
const AT_ONCE = 2

export interface Found {
  readonly plant: Plant
  /** The first seed that failed, or -1. */
  readonly seed: number
  /** How its violation reads. */
  readonly violation: string
  readonly output: string
}

/** Runs seeds in a process of its own with the bug planted, until one fails. */
export function findPlant(plant: Plant): Promise<Found> {
  const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
  const flags = ['--import', new URL('./plantHook.ts', import.meta.url).href, here('./cli.ts'), '--seeds', `${SEEDS_MAX}`, '--stop']
  const child = spawn(process.execPath, flags, { env: { ...process.env, FRAZIL_PLANT: plant.name } })
  let output = ''
  child.stdout.on('data', (text: Buffer) => (output += text))
  child.stderr.on('data', (text: Buffer) => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => {
      const [, seed = '-1', violation = ''] = /^seed (\d+) FAILED.*\n {2}(.*)/m.exec(output) ?? []
      resolve({ plant, seed: Number(seed), violation, output })
    })
  })
}

/** `node test/sim/plantsFound.ts [name …]`: which seed finds each planted bug. Exit 1 when one is not found. */
async function main(): Promise<void> {
  const names = process.argv.slice(2)
  const waiting = PLANTS.filter(({ name }) => names.length === 0 || names.includes(name))
  let missed = 0
  const work = async (): Promise<void> => {
    for (let plant = waiting.shift(); plant !== undefined; plant = waiting.shift()) {
      const found = await findPlant(plant)
      if (found.seed < 0) missed++
      console.log(
        `${plant.name}: ${found.seed < 0 ? `NOT FOUND\n${found.output}` : `seed ${found.seed}, ${found.violation.slice(0, 120)}`}`,
      )
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  process.exitCode = missed > 0 ? 1 : 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
