import { defineConfig } from 'vitest/config'

/** Suites that need a server in the environment; `npm test` does not run them. */
export default defineConfig({ test: { include: ['test/compat/postgres/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 } })
