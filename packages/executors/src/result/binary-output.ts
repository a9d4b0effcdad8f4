import { typeOfBytes } from '@toolyard/workspace'
import type { ProcessEnd } from '@toolyard/sandbox'
import { failure, type Outcome, type RunContext } from '../run/outcome.ts'
import { foreignNote, foreignPlaces } from '../run/foreign-bytes.ts'
import { decodePrefix } from '../run/utf8.ts'
import { storedOutput } from './stored-file.ts'

/**
 * The output of a command that is no text: a file of its session. Undefined for text, and for a command that failed; the
 * log says of a text that it isn't all UTF-8.
 * A text that was cut may end inside of a character.
 */
export async function binaryOutput (
  { ending, stdout: { kept, totalBytes } }: ProcessEnd, context: RunContext
): Promise<Outcome | undefined> {
  if (ending.kind !== 'exit' || ending.code !== 0) return undefined
  const whole = totalBytes === kept.length ? kept : kept.subarray(0, decodePrefix(kept).bytes)
  const places = foreignPlaces(whole)
  if (places === 0) return undefined
  const type = typeOfBytes(kept)
  if (places !== undefined && (type === undefined || type.startsWith('text/'))) {
    context.log(foreignNote(places))
    return undefined
  }
  const what = `the output is no text but ${type === undefined ? 'binary data' : type}`
  if (totalBytes > kept.length) return failure('OUTPUT_INVALID', `${what}, and its ${totalBytes} bytes are more than the ${kept.length} that are kept; write it to a file`)
  return await storedOutput({ what, bytes: kept, fileName: 'stdout.bin' }, context)
}
