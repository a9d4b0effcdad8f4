import { isRecord, firstChars } from '@toolyard/contract/terms'
import type { SkillCommandRun, SkillHelper } from '@toolyard/manifests'
import { maxElementBytes, type ProcessEnd } from '@toolyard/sandbox'
import { printedEnds } from '../../result/stream-end.ts'
import { interruptionError } from '../../run/interruption.ts'
import { failure, type Failure } from '../../run/outcome.ts'
import type { ToolCall } from '../../run/tool-call.ts'
import { allowedCommand, type SkillCommand } from '../allowed-command.ts'
import type { CallProcess, RunCallProcess } from '../call-processes.ts'
import { scriptCommand } from '../resolver.ts'
import { valueText } from '../value-text.ts'

export interface SkillCall {
  run: SkillCommandRun
  call: ToolCall
  runProcess: RunCallProcess
  path: string | undefined
}

/** Texts that stand for `$name` as a whole element. */
export type Replacements = Readonly<Record<string, string>>

interface HelperCall {
  skill: SkillCall
  replacements: Replacements
  more?: CallProcess
}

/** Runs a script of the skill, or a pair of the allowlist; a text says why it can't be started. */
export async function runHelper (
  helper: SkillHelper, { skill, replacements, more }: HelperCall, maxBytes: number
): Promise<ProcessEnd | string> {
  const command = await commandOf(helper, skill.run, skill.path)
  if (typeof command === 'string') return command
  const valueOf = (name: string): string => Object.hasOwn(replacements, name) ? replacements[name] ?? '' : ''
  const own = helper.args.map(element => element.startsWith('$') ? valueOf(element.slice(1)) : element)
  return await skill.runProcess({ ...command, args: [...command.args, ...own] }, maxBytes, more)
}

async function commandOf (
  { script, binary, subcommand }: SkillHelper, run: SkillCommandRun, path: string | undefined
): Promise<SkillCommand | string> {
  if (script !== undefined) {
    if (!run.allowScripts) return 'scripts of skills do not run here'
    return await scriptCommand(script, run, { path, sha256: undefined })
  }
  if (binary === undefined || subcommand === undefined) return 'it names no command'
  const command = await allowedCommand(run, binary, subcommand, { path })
  return command.ok ? command : command.error.message
}

/** The trimmed text that a helper prints, on which something depends: a failure where it has none to trust. */
export async function helperText (what: string, helper: SkillHelper, call: HelperCall): Promise<{ ok: true, text: string } | Failure> {
  const end = await runHelper(helper, call, maxElementBytes)
  if (typeof end === 'string') return failure('TOOL_FAILED', `${what}: ${end}`)
  const { ending, stdout, stderr } = end
  if (ending.kind === 'timeout' || ending.kind === 'abort') return { ok: false, error: interruptionError(ending, printedEnds(end)) }
  if (ending.kind === 'unstarted') return { ok: false, error: ending.error }
  if (ending.kind === 'signal') return failure('TOOL_FAILED', `${what}: signal: ${ending.signal}`)
  const said = firstChars(stderr.kept.toString('utf8').trim(), 2_000)
  if (ending.code !== 0) return failure('TOOL_FAILED', `${what}: ${said === '' ? `exit status ${ending.code}` : said}`)
  const text = stdout.kept.toString('utf8').trim()
  if (stdout.totalBytes > stdout.kept.length) return failure('TOOL_FAILED', `${what}: it printed more than ${maxElementBytes} bytes`)
  return text.includes('\0') ? failure('TOOL_FAILED', `${what}: it printed a NUL byte`) : { ok: true, text }
}

/** The arguments of a call as texts; lists and objects as JSON. */
export function argumentTexts (args: Readonly<Record<string, unknown>>): Record<string, string> {
  const textOf = (value: unknown): string => isRecord(value) || Array.isArray(value) ? JSON.stringify(value) : valueText(value)
  const entries = Object.entries(args).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(entries.map(([name, value]) => [name, textOf(value)]))
}
