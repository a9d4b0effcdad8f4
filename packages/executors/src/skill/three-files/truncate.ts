import { setImmediate as turn } from 'node:timers/promises'

/** Lines that are looked at before others may have a turn. */
const atOnce = 20_000
const numbered = /^(\d{1,15})\t/

/**
 * The first lines of an output, and a notice of how many there are. Hints stay, whatever is left out. A line that begins with
 * its number tells where to go on.
 */
export async function truncated (output: string, most: number, template?: string): Promise<string> {
  const kept: string[] = []
  const hints: string[] = []
  let total = 0
  for (let at = 0; at < output.length;) {
    const end = output.indexOf('\n', at)
    const next = end === -1 ? output.length : end
    total += 1
    if (output.startsWith('hint:', at)) hints.push(output.slice(at, next))
    else if (kept.length < most) kept.push(output.slice(at, next))
    at = next + 1
    if (total % atOnce === 0) await turn()
  }
  const omitted = total - hints.length - kept.length
  if (omitted === 0) return output
  const last = numbered.exec(kept.at(-1) ?? '')?.[1]
  const notice = (template ?? 'output truncated: {kept} of {total} lines shown; {omitted} lines omitted. Narrow your query path, pattern, or range to reduce results.')
    .replace(/\{(kept|total|omitted|next_start)\}/g, (_, name: string) => (
      String({ kept: kept.length, total, omitted, next_start: last === undefined ? kept.length + 1 : Number(last) + 1 }[name])
    ))
  return [kept.join('\n'), ...hints.length === 0 ? [] : ['', ...hints], '', `[${notice}]`].join('\n')
}
