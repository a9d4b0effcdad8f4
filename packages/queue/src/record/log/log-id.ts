/** The place before the first line of any log. */
export const logStart = '0-0'

/** Fits into the 64 bits that Redis has for each part. */
const pattern = /^0*(\d{1,19})(?:-0*(\d{1,19}))?$/

/** Reads the id of a log line as a client sends it back; undefined for what can't be one. */
export function parseLogId (text: string): string | undefined {
  const [, ms, sequence = '0'] = pattern.exec(text) ?? []
  return ms === undefined ? undefined : `${ms}-${sequence}`
}

/** Orders ids as the log does: negative when `a` comes before `b`. */
export function compareLogIds (a: string, b: string): number {
  const [aMs = '', aSequence = ''] = a.split('-')
  const [bMs = '', bSequence = ''] = b.split('-')
  const order = compareDigits(aMs, bMs)
  return order === 0 ? compareDigits(aSequence, bSequence) : order
}

/** Digits without leading zeros; they may be more than a number keeps. */
function compareDigits (a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : Number(a > b)
}
