const units: ReadonlyArray<readonly [ms: number, unit: string]> = [[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'min'], [1_000, 's']]

/** How long ago a time was, in words: `3 min ago`. */
export function ago (ms: number, now: number): string {
  const passed = now - ms
  if (passed < 1_500) return passed < -1_500 ? `in ${span(-passed)}` : 'now'
  return `${span(passed)} ago`
}

/** A duration in the largest unit that it fills: `3 min`, `2 h`. */
export function span (ms: number): string {
  const found = units.find(([size]) => ms >= size)
  return found === undefined ? `${Math.round(ms)} ms` : `${Math.floor(ms / found[0])} ${found[1]}`
}

/** A duration as it was measured: `12 ms`, `1.2 s`, `3 min 5 s`. */
export function duration (ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round(ms % 60_000 / 1_000)} s`
  return `${Math.floor(ms / 3_600_000)} h ${Math.floor(ms % 3_600_000 / 60_000)} min`
}

/** A size in bytes: `12 B`, `3.4 KB`, `1.2 MB`. */
export function bytes (count: number): string {
  if (count < 1_000) return `${count} B`
  const power = Math.min(4, Math.floor(Math.log10(count) / 3))
  const size = count / 1_000 ** power
  return `${size.toFixed(size < 10 ? 1 : 0)} ${['B', 'KB', 'MB', 'GB', 'TB'][power] ?? ''}`
}

export function counted (count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
