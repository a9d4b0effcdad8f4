import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createExecutors, openAudit, type Outcome, type RunContext } from '@toolyard/executors'
import { isRecord } from '@toolyard/contract'
import { denyTest, loadRegistry, toolOfCall, type Finding, type Registry, type SkillOptions } from '@toolyard/manifests'
import { whole } from '../executors/fixture.ts'
import { writeFiles } from '../support/files.ts'

export type Json = Record<string, unknown>

/** Files of one skill: the text of its SKILL.md, its `tools.json` as a value or a text, and others by their path. */
export interface SkillFiles {
  'SKILL.md'?: string | undefined
  'tools.json'?: Json | unknown[] | string
  [path: string]: Json | unknown[] | string | undefined
}

export interface SkillFixture {
  base: string
  skills: string
  workspace: string
  bin: string
  logged: string[]
  /** Writes an executable shell script that is found by its name. */
  program (name: string, script: string): string
  /** Writes a skill below the directory of skills and returns its path. */
  skill (name: string, files?: SkillFiles): string
  /** Loads the directory of skills, or other manifests. */
  load (options?: Partial<SkillOptions>, manifests?: string[]): Promise<Registry>
  call (registry: Registry, tool: string, args: unknown, context?: Partial<RunContext>): Promise<Outcome>
  auditLines (): Promise<Json[]>
}

/** Prints its arguments, each with a NUL behind it. */
export const showArguments = 'printf \'%s\\0\' "$@"'

/** Skills in real directories, loaded and run as a worker does; `show` is a program that prints its arguments. */
export function createFixture (t: Test, maxOutputBytes = 1_048_576): SkillFixture {
  // Not t.testdir(): a test may make several, and the audit of one may still be written when the next is made.
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'toolyard-skill-'))
  const [skills, bin, workspace, auditDir] = ['skills', 'bin', 'workspace', 'audit'].map(name => join(base, name)) as [string, string, string, string]
  for (const directory of [skills, bin, workspace]) mkdirSync(directory)
  const path = `${bin}:${process.env['PATH'] ?? ''}`
  const audit = openAudit({ dir: auditDir, redact: '', secrets: [], onError: error => { t.fail('the audit failed', { error }) } })
  const shown = new Set<string>()
  const executors = createExecutors({ workspaceDir: workspace, env: { PATH: path, HOME: '/home/tester', SECRET: 'hunter2' }, maxOutputBytes, audit, compileDeny: denyTest, shownFiles: { isFirst: async (session, path) => shown.size < shown.add(`${session} ${path}`).size } })
  t.teardown(async () => {
    await executors.close()
    rmSync(base, { recursive: true })
  })
  const logged: string[] = []

  const fixture: SkillFixture = {
    base,
    skills,
    workspace,
    bin,
    logged,
    program (name, script) {
      const file = join(bin, name)
      writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      return file
    },
    skill (name, files = {}) {
      const all = Object.entries({ 'SKILL.md': `# ${name}\n`, ...files }).filter(([, content]) => content !== undefined)
      return writeFiles(join(skills, name), Object.fromEntries(all))
    },
    load: async (options = {}, manifests = [skills]) => await loadRegistry({ manifests, builtins: false, skills: { path, ...options } }),
    async call (registry, name, args, context = {}) {
      const tool = registry.get(name)?.tool
      if (tool === undefined) throw new Error(`${name} is not loaded: ${JSON.stringify(registry.findings)}`)
      return whole(await executors.run(toolOfCall(tool, isRecord(args) ? args : {}), args as Json, {
        jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: line => { logged.push(line) }, ...context
      }))
    },
    async auditLines () {
      await executors.close()
      const files = existsSync(auditDir) ? readdirSync(auditDir) : []
      return files.flatMap(file => readFileSync(join(auditDir, file), 'utf8').trimEnd().split('\n')).map(line => JSON.parse(line) as Json)
    }
  }
  fixture.program('show', showArguments)
  return fixture
}

/** A `tools.json` of one tool, `probe`, which runs `show run` with these arguments. */
export function toolsFile (args: unknown[] = [], change: Json = {}): Json {
  return {
    tools: [{ name: 'probe', parameters: { type: 'object', properties: { a: {}, b: {} } } }],
    allowlist: { show: ['run'] },
    execution: [{ tool: 'probe', binary: 'show', subcommand: 'run', args }],
    ...change
  }
}

/** Loads a skill with that file, calls `probe` and returns the outcome. */
async function callProbe (t: Test, mapping: unknown[], args: unknown, { options = {}, files = {}, change = {} }: {
  options?: Partial<SkillOptions>, files?: SkillFiles, change?: Json
} = {}): Promise<Outcome> {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile(mapping, change), ...files })
  return await fixture.call(await fixture.load(options), 'probe', args)
}

/** The arguments that `show run` was started with, without `run`; what went wrong instead. */
export async function argvOf (...call: Parameters<typeof callProbe>): Promise<unknown> {
  const outcome = await callProbe(...call)
  return outcome.ok ? shownArguments(outcome) : outcome.error
}

/** The output of `show`, as a list, without the subcommand. */
export function shownArguments (outcome: Outcome): string[] {
  if (!outcome.ok || typeof outcome.output !== 'string') throw new Error(`the run failed: ${JSON.stringify(outcome)}`)
  return outcome.output.split('\0').slice(1, -1)
}

export function names (registry: Registry): string[] {
  return registry.all().map(({ tool }) => tool.name)
}

/** Rules, severities and texts of findings, for comparison. */
export function told (findings: readonly Finding[]): string[] {
  return findings.map(({ severity, rule, message }) => `${severity} ${rule} ${message}`)
}
