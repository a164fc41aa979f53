import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { relative } from 'node:path'
import { PLANTS } from './plants.ts'

/** Preloaded (`--import`) with FRAZIL_PLANT=<name>: patches sources while they are loaded, and nothing on disk. */
const plant = PLANTS.find(({ name }) => name === process.env['FRAZIL_PLANT'])
if (plant === undefined) throw new Error(`FRAZIL_PLANT names no plant: ${process.env['FRAZIL_PLANT']}`)
const root = fileURLToPath(new URL('../../', import.meta.url))
const patches = plant.patches

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.startsWith('file:')) return loaded
    const file = relative(root, fileURLToPath(url))
    const own = patches.filter((patch) => patch.file === file)
    if (own.length === 0) return loaded
    let source = String(loaded.source)
    for (const { find, replace } of own) {
      if (source.split(find).length !== 2) throw new Error(`the plant ${plant.name} does not find its place in ${file}`)
      source = source.replace(find, () => replace)
    }
    return { ...loaded, source }
  },
})
