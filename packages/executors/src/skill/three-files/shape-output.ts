import { setImmediate as turn } from 'node:timers/promises'
import type { SkillExecution } from '@toolyard/manifests'
import type { ProcessEnd } from '@toolyard/sandbox'
import { printedEnds } from '../../result/stream-end.ts'
import { interruptionError } from '../../run/interruption.ts'
import type { Failure } from '../../run/outcome.ts'
import { runHelper, argumentTexts, type SkillCall } from './helper.ts'
import { hintLines } from './hints.ts'

/** Lines that are looked at before others may have a turn. */
const linesAtOnce = 20_000

const numbered = /^(\d{1,15})\t/

/** How the program ended that printed an output. */
interface Printed {
  execution: SkillExecution
  code: number
  args: Readonly<Record<string, unknown>>
  cwd: string
  maxBytes: number
}

export function isShaped ({ postProcess, hints, sideRead, maxOutputLines }: SkillExecution): boolean {
  return postProcess !== undefined || hints.length > 0 || sideRead !== undefined || maxOutputLines !== undefined
}

/** The output as a model is to read it: through the skill's helper, with hints, and cut to so many lines. */
export async function shaped (output: string, skill: SkillCall, printed: Printed): Promise<{ ok: true, text: string } | Failure> {
  const { execution } = printed
  const processed = await postProcessed(output, skill, printed)
  if (!processed.ok) return processed
  let { text } = processed
  const lines: string[] = []
  for (const hint of execution.hints) {
    lines.push(...hintLines([hint], text, printed))
    await turn()
  }
  if (lines.length > 0) text = [...text === '' ? [] : [withoutLineEnds(text)], ...lines].join('\n\n')
  if (execution.maxOutputLines !== undefined) text = await truncated(text, execution.maxOutputLines, execution.truncationHint)
  return { ok: true, text }
}

/** The helper's output in place of the program's; whatever goes wrong keeps that, and is told in the log. */
async function postProcessed (
  output: string, skill: SkillCall, { execution: { postProcess }, maxBytes, code, args, cwd }: Printed
): Promise<{ ok: true, text: string } | Failure> {
  if (postProcess === undefined) return { ok: true, text: output }
  const process = { cwd, stdin: output, variables: { CHAI_EXIT_CODE: String(code) } }
  const end = await runHelper(postProcess, { skill, replacements: argumentTexts(args), more: process }, maxBytes)
  if (typeof end !== 'string' && (end.ending.kind === 'timeout' || end.ending.kind === 'abort')) {
    return { ok: false, error: interruptionError(end.ending, printedEnds(end)) }
  }
  const why = typeof end === 'string' ? end : faultOf(end)
  const text = typeof end === 'string' ? '' : end.stdout.kept.toString('utf8')
  if (why === undefined && (text !== '' || postProcess.emptyIsResult)) return { ok: true, text }
  if (why !== undefined) skill.call.context.log(`[the output is not post-processed: ${why}]`)
  return { ok: true, text: output }
}

function faultOf ({ ending, stdout }: ProcessEnd): string | undefined {
  if (ending.kind === 'unstarted') return ending.error.message
  if (ending.kind === 'signal') return `signal: ${ending.signal}`
  if (ending.kind === 'exit' && ending.code !== 0) return `exit status ${ending.code}`
  return stdout.totalBytes > stdout.kept.length ? 'it printed too much' : undefined
}

export function withoutLineEnds (text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end--
  return text.slice(0, end)
}

/**
 * The first lines of an output, and a notice of how many there are. Hints stay, whatever is left out. A line that begins with
 * its number tells where to go on.
 */
async function truncated (output: string, most: number, template?: string): Promise<string> {
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
    if (total % linesAtOnce === 0) await turn()
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
