import { firstChars } from '@toolyard/contract/terms'
import { createHash } from 'node:crypto'
import { movable, type ThreadAnswer } from '@toolyard/runtime/threads'
import { textArgument } from '../kit/arguments.ts'
import { BuiltinFailure } from '../kit/handler.ts'
import { readChange } from './change.ts'
import { unifiedDiff } from './diff.ts'
import { decodePrefix } from '../../run/utf8.ts'

/** UTF-16 units of one preview, and bytes before the change that it begins with. */
const previewChars = 400

const leadBytes = 80

/** A change to work out: plain data, for a thread. */
export interface ChangeTask {
  /** Undefined when there is no file yet. */
  before: Uint8Array | undefined
  /** Of the call. */
  args: Readonly<Record<string, unknown>>
  /** Of the file, from the workspace. */
  path: string
}

export interface ChangeAnswer {
  after: Uint8Array
  changed: boolean
  /** The part of the call's answer that says so. */
  facts: object
}

/** Up to these a change is made at once, not in a thread: bytes of the file and of the call's texts together, and comparisons of lines. */
const shortBytes = 65_536
const shortComparisons = 50_000
/** Arguments that are compared with the file line by line. */
const lineArguments = ['patch', 'content', 'new_text']

/** Whether the change takes a few milliseconds at most. */
export function isShort ({ before, args }: ChangeTask): boolean {
  const texts = Object.values(args).filter(value => typeof value === 'string')
  if (texts.reduce((sum, text) => sum + text.length, before?.length ?? 0) > shortBytes) return false
  if (args['dry_run'] !== true && args['mode'] !== 'apply_patch') return true
  const compared = lineArguments.map(name => args[name]).filter(text => typeof text === 'string').reduce((sum, text) => sum + text.split('\n').length, 0)
  // A change of a few lines leaves all others to be compared with themselves.
  const lines = (before ?? new Uint8Array()).reduce((sum, byte) => byte === 0x0a ? sum + 1 : sum, 1)
  return lines * (lines + compared) <= shortComparisons
}

/** Works out what a change makes of a file. @throws BuiltinFailure when it doesn't fit. */
export function applyChange ({ before: content, args, path }: ChangeTask): ChangeAnswer {
  const before = Buffer.from(content?.buffer ?? new ArrayBuffer(0), content?.byteOffset, content?.byteLength)
  const change = readChange(args)
  const shaBefore = content === undefined ? null : sha256(before)
  checkExpected(args['expected_sha256'], shaBefore)
  const after = change.apply(before)
  if (after.length > change.maxBytes) throw new BuiltinFailure(`the file would have ${after.length} bytes; max_bytes is ${change.maxBytes}`)
  const created = content === undefined
  const changed = created || !after.equals(before)
  const facts = {
    changed,
    created,
    bytes_before: before.length,
    bytes_after: after.length,
    sha256_before: shaBefore,
    sha256_after: sha256(after),
    ...previews(before, after),
    ...(args['dry_run'] === true ? { diff: unifiedDiff(path, before, after) } : {})
  }
  return { after, changed, facts }
}

/** Does the same in a thread. */
export function runChangeTask (task: ChangeTask): ThreadAnswer {
  const answer = applyChange(task)
  return { answer, move: movable(answer.after) }
}

function checkExpected (expected: unknown, actual: string | null): void {
  const wanted = textArgument(expected).toLowerCase()
  if (wanted !== '' && wanted !== actual) throw new BuiltinFailure(`sha256 mismatch: expected ${wanted}, got ${actual ?? 'no file'}`)
}

function sha256 (content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

/** The place where two contents begin to differ, in both of them; the start when they are equal. */
function previews (before: Buffer, after: Buffer): { preview_before: string, preview_after: string } {
  const start = Math.max(0, firstDifference(before, after) - leadBytes)
  return { preview_before: preview(before, start), preview_after: preview(after, start) }
}

function firstDifference (before: Buffer, after: Buffer): number {
  if (before.equals(after)) return 0
  const length = Math.min(before.length, after.length)
  let at = 0
  while (at < length && before[at] === after[at]) at += 1
  return at
}

function preview (content: Buffer, start: number): string {
  let from = start
  while (from > 0 && ((content[from] ?? 0) & 0xc0) === 0x80) from -= 1
  return firstChars(decodePrefix(content.subarray(from, from + previewChars * 4)).text, previewChars)
}
