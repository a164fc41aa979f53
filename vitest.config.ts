import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/{unit,hazards,sim,fuzz}/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
})
