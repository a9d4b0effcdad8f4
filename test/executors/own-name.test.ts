import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadRegistry, type CommandRun, type SkillRun, type Tool } from '@toolyard/manifests'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { openExecutors, testTool } from '../support/tool.ts'

const skip = process.platform === 'linux' ? false : 'Linux alone tells its programs so'
const boxless = await withoutBox()
const context = { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} }
const tool = (run: CommandRun | SkillRun, rest: Partial<Tool> = {}): Tool => testTool(run, { permissions: ['read_repo'], ...rest })
const skill = (binary: string, directory = '/'): SkillRun => ({ kind: 'skill', directory, binary, subcommand: 'nope', args: [], allowlist: { [binary]: ['nope'] }, allowScripts: false })

for (const place of ['in the open', 'in the sandbox'] as const) {
  void t.test(`A9 SC12 ${place} a program gets its name as the manifest has it`, { skip: skip || (place === 'in the sandbox' && boxless) }, async t => {
    const boxed = place === 'in the open' ? undefined : await boxedTools(t)
    const directory = boxed?.base ?? t.testdir({ tools: { bin: {} } })
    const executors = boxed?.executors ?? openExecutors(t, { workspaceDir: directory, env: process.env })
    const program = join(directory, 'tools/bin/cat')
    copyFileSync('/bin/cat', program)
    const messageOf = async (run: CommandRun | SkillRun, rest: Partial<Tool> = {}): Promise<string> => {
      const outcome = await executors.run(tool(run, { source: { format: 'agentcli', file: join(directory, 'tools.json'), index: 0 }, ...rest }), {}, context)
      return outcome.ok ? String(outcome.output) : outcome.error.message
    }
    const command = { kind: 'command' as const, args: ['nope'], envPassthrough: [] }
    for (const limits of [undefined, { openFiles: 64 }]) {
      const rest = limits === undefined ? {} : { limits }
      t.match(await messageOf(skill('cat'), rest), /^cat: nope: /, 'a name on the PATH')
      t.match(await messageOf(skill('/bin/cat'), rest), /^\/bin\/cat: nope: /, 'an absolute path')
      t.match(await messageOf({ ...command, program: '/bin/cat' }, rest), /^\/bin\/cat: nope: /)
    }
    if (boxed === undefined || existsSync('/usr/bin/perl')) {
      t.match(await messageOf({ ...command, program, name: './tools/bin/cat' }), /^\.\/tools\/bin\/cat: nope: /, 'a path of the manifest')
    }
    // The kernel tells an interpreter the path of a script, and nothing else.
    const script = join(directory, 'tools/bin/script')
    const text = '#!/bin/sh\necho "$0 $1"\n'
    if (boxed === undefined) writeFileSync(script, text, { mode: 0o755 })
    else boxed.program('script', text)
    t.equal(await messageOf({ ...command, program: script, name: './tools/bin/script' }), `${script} nope`)
  })
}

void t.test('A9 a relative PATH never leads a name into the workspace', { skip: skip || boxless }, async t => {
  const tools = await boxedTools(t, { env: { ...process.env, PATH: `.:./bin:${process.env['PATH'] ?? ''}` } })
  copyFileSync('/bin/echo', join(tools.workspace, 'cat'))
  const outcome = await tools.executors.run(tool(skill('cat')), {}, context)
  t.match(outcome, { ok: false, error: { message: /cat: nope: / } })
})

void t.test('A9 a manifest keeps the name of a program as it was written', async t => {
  const directory = t.testdir({ 'tools.json': JSON.stringify({ tools: [{ name: 'one', command: ['./tools/bin/one'] }, { name: 'two', command: ['/bin/true'] }] }) })
  const registry = await loadRegistry({ manifests: [join(directory, 'tools.json')], builtins: false })
  const [one, two] = registry.all().map(({ tool }) => tool.run as CommandRun)
  t.match(one, { program: join(directory, 'tools/bin/one'), name: './tools/bin/one' })
  t.notOk('name' in (two ?? {}))
})
