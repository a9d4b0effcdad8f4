import { atPlace, openFile } from '@toolyard/workspace'
import { integerArgument } from '../kit/arguments.ts'
import { BuiltinFailure, type BuiltinHandler } from '../kit/handler.ts'
import { pieceTurn } from '../kit/piece-turn.ts'
import { readByteRange, type Part } from './byte-range.ts'
import { readLineRange } from './line-range.ts'

const maxBytes = { min: 512, max: 1_048_576, default: 262_144 }
const fromOne = { min: 1, default: 1 }
/** Where a NUL byte makes a file binary: what every text tool looks at. */
const sniffBytes = 8_192

/**
 * `data.file_read`: a part of a text file of the workspace, at most `max_bytes` bytes and never cut
 * inside a character: from the start, from `start_byte`, or `max_lines` lines from `start_line` on. Returns
 * `{ok, path, truncated, bytes_read, total_bytes, content_text}`, sizes in bytes; `truncated` when there is more after
 * the part, and then `next_start_byte` or `next_start_line` says where. A part with a NUL byte near its start is binary
 * and refused, unless `encoding` is `base64`: then it comes as `content_base64`. Bytes that are no UTF-8 become U+FFFD,
 * and `invalid_utf8` is there.
 */
export const readWorkspaceFile: BuiltinHandler = async (args, context) => {
  const path = args['path']
  if (typeof path !== 'string' || path.trim() === '') throw new BuiltinFailure('path is required')
  return await atPlace(context, path, { notFound: 'file not found' }, async place => {
    const { handle, size } = openFile(place)
    try {
      const file = { handle, size, maxBytes: integerArgument(args['max_bytes'], maxBytes), base64: args['encoding'] === 'base64', pieceTurn: async () => { await pieceTurn(context) } }
      const byLines = args['start_line'] !== undefined || args['max_lines'] !== undefined
      const part = byLines
        ? await readLineRange(file, { start: integerArgument(args['start_line'], fromOne), count: integerArgument(args['max_lines'], { min: 1, default: Infinity }) })
        : await readByteRange(file, integerArgument(args['start_byte'], { min: 0, default: 0 }))
      const { bytes, truncated, more } = part
      const sizes = { bytes_read: bytes.length, total_bytes: size }
      return { ok: true, path: place.relative, truncated, ...sizes, ...content(part, file.base64), ...more }
    } finally {
      handle.close()
    }
  })
}

function content ({ bytes }: Part, base64: boolean): object {
  if (base64) return { content_base64: bytes.toString('base64') }
  if (bytes.subarray(0, sniffBytes).includes(0)) throw new BuiltinFailure('file is binary (set encoding to "base64" to read it all the same)')
  const text = bytes.toString('utf8')
  return { content_text: text, ...(text.includes('\ufffd') && !bytes.equals(Buffer.from(text)) ? { invalid_utf8: true } : {}) }
}
