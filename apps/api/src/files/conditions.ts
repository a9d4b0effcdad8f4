import { HttpError } from '@toolyard/contract'
import type { BigIntStats } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { namesTag } from '../plugins/entity-tag.ts'

/** Names what is in a file: it changes when that is written, and when another file takes the place. */
export function tagOf ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `"${[ino, size, mtimeNs, ctimeNs].map(each => each.toString(36)).join('-')}"`
}

/**
 * Refuses to change a file that isn't as the caller knows it.
 *
 * @param tag of the file that is there; undefined for none
 * @throws HttpError `PRECONDITION_FAILED`
 */
export function checkConditions (headers: IncomingHttpHeaders, tag: string | undefined): void {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (match !== undefined && (tag === undefined || !namesStrongTag(match, tag))) {
    throw new HttpError('PRECONDITION_FAILED', tag === undefined ? 'If-Match: there is no such file' : 'If-Match: the file is another one by now')
  }
  if (noneMatch !== undefined && tag !== undefined && namesTag(noneMatch, tag)) {
    throw new HttpError('PRECONDITION_FAILED', 'If-None-Match: there is such a file already')
  }
}

/** Whether a range is of the file that the caller has: only then is a part of any use. */
export function isSameRange (header: string | undefined, tag: string, modified: Date): boolean {
  if (header === undefined) return true
  return header.startsWith('"') ? header === tag : Date.parse(header) === Math.floor(modified.getTime() / 1_000) * 1_000
}

/** A weak tag names none: it says nothing of bytes. */
function namesStrongTag (header: string, tag: string): boolean {
  return header.split(',').some(each => each.trim() === tag || each.trim() === '*')
}
