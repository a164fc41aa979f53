let passed = 0
let failed = 0

/** One line of the report. */
export function check(what: string, good: boolean, detail = ''): boolean {
  if (good) passed++
  else failed++
  console.log(`${good ? 'ok  ' : 'FAIL'} ${what}${detail === '' ? '' : ` (${detail})`}`)
  return good
}

export function note(text: string): void {
  console.log(`     ${text}`)
}

/** Runs a part; what it throws is a failure of that part alone. */
export async function part(name: string, run: () => Promise<void>): Promise<void> {
  const from = Date.now()
  try {
    await run()
  } catch (error) {
    check(name, false, error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  note(`${name}: ${((Date.now() - from) / 1000).toFixed(1)} s`)
}

/** The last line, and the exit code. */
export function finish(): number {
  console.log(`limits: ${passed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}
