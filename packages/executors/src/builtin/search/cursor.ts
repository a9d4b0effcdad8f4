import { BuiltinFailure } from '../kit/handler.ts'
import type { Cursor } from './walk/task.ts'

/** A cursor as callers pass it back: a text without meaning to them. */
export function writeCursor ({ path, line }: Cursor): string {
  return Buffer.from(JSON.stringify(line === undefined ? [path] : [path, line])).toString('base64url')
}

/** @throws BuiltinFailure for a text that no search returned; undefined when there is none. */
export function readCursor (text: string): Cursor | undefined {
  if (text === '') return undefined
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    const list: unknown[] = Array.isArray(parts) ? parts : []
    const [path, line] = list
    if (typeof path === 'string' && (line === undefined || typeof line === 'number')) return line === undefined ? { path } : { path, line }
  } catch {}
  throw new BuiltinFailure('cursor is not one that this tool returned')
}

/** The order of results: by names from the top down, a directory before what is in it. */
export function comparePaths (a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')]
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [one = '', other = ''] = [left[at], right[at]]
    if (one !== other) return one < other ? -1 : 1
  }
  return left.length - right.length
}
