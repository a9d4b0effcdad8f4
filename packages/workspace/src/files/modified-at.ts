import type { BigIntStats, Stats } from 'node:fs'

/** The times that four digits of a year can say, in milliseconds since 1970. */
const told = { first: Date.parse('0000-01-01T00:00:00.000Z'), last: Date.parse('9999-12-31T23:59:59.999Z') }

/**
 * When a file was changed. A tool may give it any time, and some file systems keep one that no Date can hold: that is told as the
 * nearest one.
 */
export function modifiedAt ({ mtimeMs }: Pick<Stats | BigIntStats, 'mtimeMs'>): Date {
  return new Date(Math.min(Math.max(Number(mtimeMs), told.first), told.last))
}
