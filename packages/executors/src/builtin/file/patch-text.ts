import { applyPatch, parsePatch, type StructuredPatch } from 'diff'
import { asError } from '@toolyard/contract/terms'
import { BuiltinFailure } from '../kit/handler.ts'

/** Lines of the file times lines of the patch: the comparisons that a patch of the worst kind needs, a part of a second. */
const maxComparisons = 20_000_000

/**
 * Applies a unified diff of one file. Its lines must be there as it says; where they are may differ. The file names in
 * its header don't matter.
 *
 * @throws BuiltinFailure when it is no such diff or doesn't fit.
 */
export function patchText (text: string, source: string): string {
  const patch = onePatch(source)
  const patchLines = patch.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0)
  if (lineCount(text) * patchLines > maxComparisons) throw new BuiltinFailure('the patch is too large for a file of this size; apply it in parts')
  const patched = applyPatch(text, patch)
  if (patched === false || !endsAsSaid(text, patched, patch)) throw new BuiltinFailure('the patch does not fit the file (read it again with data.file_read)')
  return patched
}

/** A patch marks a last line that has no newline. Whether that line ends the file, before the change and after it. */
function endsAsSaid (before: string, after: string, { hunks }: StructuredPatch): boolean {
  const [plainBefore, plainAfter] = [before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n')]
  return hunks.every(({ lines }) => {
    const marked = lines.map((line, at) => lines[at + 1]?.startsWith('\\') === true ? line[0] : '')
    const side = (kind: string): string => lines.filter(line => line.startsWith(' ') || line.startsWith(kind)).map(line => line.slice(1)).join('\n')
    const fits = (text: string, kind: string): boolean => !(marked.includes(kind) || marked.includes(' ')) || text.endsWith(side(kind).replaceAll('\r', ''))
    return fits(plainBefore, '-') && fits(plainAfter, '+')
  })
}

function onePatch (source: string): StructuredPatch {
  const patches = parsed(source).filter(({ hunks }) => hunks.length > 0)
  const [patch] = patches
  if (patch === undefined) throw new BuiltinFailure('input.patch has no hunk (a unified diff has lines such as @@ -1,3 +1,4 @@)')
  if (patches.length > 1) throw new BuiltinFailure(`input.patch changes ${patches.length} files; apply it to one file at a time`)
  return patch
}

function parsed (source: string): StructuredPatch[] {
  try {
    return parsePatch(source.endsWith('\n') ? source : `${source}\n`)
  } catch (error) {
    throw new BuiltinFailure(`input.patch is not a unified diff: ${asError(error).message}`)
  }
}

function lineCount (text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
