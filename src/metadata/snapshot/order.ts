/** Sorted by UTF-16 code units, whatever the locale (L5). */
export function byText<T>(text: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0)
}
