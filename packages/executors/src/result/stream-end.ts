import { parseProgress } from '@toolyard/contract/terms'
import type { Captured } from '@toolyard/runtime'
import { decodeSuffix, lastChars } from '../run/utf8.ts'

/** UTF-16 units of a stream that an error shows. */
export const shownChars = 2_000
/** More than enough for them, with any letters and white space after them. */
const readBytes = 16_384

/** The last characters of what a tool printed, without the white space around them. */
export function streamEnd ({ kept, end }: Captured): string {
  return lastChars(withoutProgress(decodeSuffix(end ?? kept.subarray(-readBytes))).trim(), shownChars)
}

/** A text without the lines that tell how far the tool is: they say nothing of what went wrong. */
export function withoutProgress (text: string): string {
  if (!text.includes('::progress ')) return text
  return text.split('\n').filter(line => parseProgress(line.trimEnd()) === undefined).join('\n')
}

/** The ends of both streams of a tool that was stopped; a blank one is left out. */
export function printedEnds (streams: { stderr: Captured, stdout?: Captured }): { stderr?: string, stdout?: string } {
  const stderr = streamEnd(streams.stderr)
  const stdout = streams.stdout === undefined ? '' : streamEnd(streams.stdout)
  return { ...(stderr === '' ? {} : { stderr }), ...(stdout === '' ? {} : { stdout }) }
}
