import type { Test } from 'tap'
import type { Outcome, RunContext } from '@toolyard/executors'
import type { Finding, SkillOptions } from '@toolyard/manifests'
import { createFixture, shownArguments, type Json, type SkillFiles, type SkillFixture } from '../fixture.ts'

/** Unusual parts of a skill with one tool, `probe`, which runs `show run`. */
export interface Changes {
  args?: unknown[]
  execution?: Json
  executions?: Json[]
  tool?: Json
  tools?: Json[]
  allowlist?: Json
  files?: SkillFiles
  options?: Partial<SkillOptions>
  context?: Partial<RunContext>
}

const properties = Object.fromEntries(['a', 'b', 'c', 'path', 'repo', 'text'].map(name => [name, {}]))

/** The three files, as they are published. */
export function threeFiles ({ args = [], execution = {}, executions, tool = {}, tools, allowlist, files = {} }: Changes): SkillFiles {
  return {
    'tools.json': tools ?? [{ name: 'probe', parameters: { type: 'object', properties }, ...tool }],
    'allowlist.json': { show: ['run', 'other'], ...allowlist },
    'execution.json': executions ?? [{ tool: 'probe', binary: 'show', subcommand: 'run', args, ...execution }],
    ...files
  }
}

export interface Loaded {
  fixture: SkillFixture
  findings: readonly Finding[]
  /** Why `probe` isn't served; undefined when it is. */
  unavailable: string | undefined
  call: (args?: Json, context?: Partial<RunContext>) => Promise<Outcome>
}

/** Loads a skill with three files; scripts run. */
export async function load (t: Test, changes: Changes = {}, fixture = createFixture(t)): Promise<Loaded> {
  fixture.skill('one', threeFiles(changes))
  const registry = await fixture.load({ allowScripts: true, ...changes.options })
  const tool = registry.get('probe')?.tool
  return {
    fixture,
    findings: registry.findings,
    unavailable: tool === undefined ? 'it is not there' : tool.unavailable,
    call: async (args = {}, context = {}) => await fixture.call(registry, 'probe', args, { ...changes.context, ...context })
  }
}

/** The arguments that `show` was started with behind `run`; what went wrong instead. */
export async function argvOf (t: Test, changes: Changes, args: Json = {}): Promise<unknown> {
  const { call, unavailable } = await load(t, changes)
  if (unavailable !== undefined) return unavailable
  const outcome = await call(args)
  return outcome.ok ? shownArguments(outcome) : outcome.error
}
