import { isUtf8 } from 'node:buffer'
import { integerArgument, textArgument } from '../kit/arguments.ts'
import { BuiltinFailure } from '../kit/handler.ts'
import { editText } from './edit-text.ts'
import { patchText } from './patch-text.ts'
import { insertAt, replaceRange } from './span.ts'

/** Modes of `data.write_file`; `edit` and `apply_patch` are Toolyard's own. */
const writeModes = ['replace', 'append', 'prepend', 'insert_at', 'replace_range', 'edit', 'apply_patch'] as const
export type WriteMode = (typeof writeModes)[number]

/** Size of a file that may be written, in bytes. */
export const fileBytes = { min: 512, max: 10_485_760, default: 10_485_760 }

export interface Change {
  mode: WriteMode
  /** Bytes that the file may have afterwards. */
  maxBytes: number
  /** @throws BuiltinFailure when the change doesn't fit the content. */
  apply (content: Buffer): Buffer
}

/** Whether a mode makes sense for a file that doesn't exist. */
export function makesFiles (mode: WriteMode): boolean {
  return mode === 'replace' || mode === 'append' || mode === 'prepend'
}

/** Reads what is to be changed from a call's arguments; @throws BuiltinFailure for arguments that contradict each other. */
export function readChange (args: Readonly<Record<string, unknown>>): Change {
  const mode = writeModes.find(each => each === (args['mode'] ?? 'replace'))
  if (mode === undefined) throw new BuiltinFailure(`input.mode must be one of ${writeModes.join(', ')}`)
  return { mode, maxBytes: integerArgument(args['max_bytes'], fileBytes), apply: changeOf(mode, args) }
}

function changeOf (mode: WriteMode, args: Readonly<Record<string, unknown>>): Change['apply'] {
  if (mode === 'edit') {
    const edit = { oldText: requiredText(args, 'old_text', mode), newText: requiredText(args, 'new_text', mode) }
    return onText(text => editText(text, edit))
  }
  if (mode === 'apply_patch') {
    const patch = requiredText(args, 'patch', mode)
    return onText(text => patchText(text, patch))
  }
  const content = readContent(args, mode)
  switch (mode) {
    case 'replace': return () => content
    case 'append': return before => Buffer.concat([before, content])
    case 'prepend': return before => Buffer.concat([content, before])
    case 'insert_at': return onText(text => insertAt(text, utf8(content, 'content'), args))
    case 'replace_range': return onText(text => replaceRange(text, utf8(content, 'content'), args))
  }
}

function readContent (args: Readonly<Record<string, unknown>>, mode: WriteMode): Buffer {
  const { content, content_base64: base64 } = args
  if (content !== undefined && base64 !== undefined) throw new BuiltinFailure('input.content and input.content_base64 are mutually exclusive')
  if (typeof content === 'string') return Buffer.from(content)
  if (typeof base64 !== 'string') throw new BuiltinFailure(`mode '${mode}' requires input.content or input.content_base64`)
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64').replaceAll('=', '') !== textArgument(base64).replaceAll('=', '')) throw new BuiltinFailure('input.content_base64 is not base64')
  return bytes
}

function requiredText (args: Readonly<Record<string, unknown>>, name: string, mode: WriteMode): string {
  const value = args[name]
  if (typeof value !== 'string') throw new BuiltinFailure(`mode '${mode}' requires input.${name}`)
  return value
}

function onText (change: (text: string) => string): Change['apply'] {
  return content => Buffer.from(change(utf8(content, 'file')))
}

/** A byte-order mark stays, as a character. */
function utf8 (bytes: Buffer, what: string): string {
  if (!isUtf8(bytes)) throw new BuiltinFailure(`the ${what} is not UTF-8 text`)
  return bytes.toString()
}
