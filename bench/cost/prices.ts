/** One kind of request as the pods count it (`frazil_store_requests_total`). */
export interface Requests {
  readonly kind: string
  readonly reason: string
  readonly count: number
}

/** S3 Standard, us-east-1, list prices in dollars a request: PUT, COPY, POST and LIST; GET and HEAD; DELETE is free. */
const WRITE = 0.005 / 1000
const READ = 0.0004 / 1000
const PRICES: Readonly<Record<string, number>> = { put: WRITE, copy: WRITE, list: WRITE, get: READ, head: READ, delete: 0 }

export const HOURS_A_MONTH = 730
export const TERABYTE = 1e12

export function dollars(requests: readonly Requests[]): number {
  return requests.reduce((sum, { kind, count }) => sum + priceOf(kind) * count, 0)
}

export function priceOf(kind: string): number {
  const price = PRICES[kind]
  if (price === undefined) throw new Error(`no price is known for requests of the kind ${kind}`)
  return price
}

/** Requests out of a page of /metrics. */
export function parseRequests(page: string): Requests[] {
  return [...page.matchAll(/^frazil_store_requests_total\{kind="(\w+)",reason="(\w+)"\} (\d+)$/gm)].map(([, kind, reason, count]) => ({
    kind: kind!,
    reason: reason!,
    count: Number(count),
  }))
}

/** Requests of several pods, or two times, as one: the sum by kind and reason, `before` taken off. */
export function combine(pages: readonly (readonly Requests[])[], before: readonly Requests[] = []): Requests[] {
  const sums = new Map<string, Requests>()
  const add = (one: Requests, sign: number): void => {
    const key = `${one.kind} ${one.reason}`
    sums.set(key, { ...one, count: (sums.get(key)?.count ?? 0) + sign * one.count })
  }
  for (const page of pages) for (const one of page) add(one, 1)
  for (const one of before) add(one, -1)
  return [...sums.values()].filter((one) => one.count > 0).sort((a, b) => dollars([b]) - dollars([a]) || b.count - a.count)
}

/** Lines `put wal 1234 $0.0062` for a reader; `factor` scales counts and dollars. */
export function requestTable(requests: readonly Requests[], factor: number): string {
  return requests
    .map((one) => {
      const cost = dollars([one]) * factor
      return `    ${one.kind.padEnd(7)}${one.reason.padEnd(10)}${(one.count * factor).toFixed(0).padStart(10)}   $${cost.toFixed(4)}`
    })
    .join('\n')
}
