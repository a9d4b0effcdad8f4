import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { SkillRun, Tool } from '@toolyard/manifests'
import { createExecutors, openAudit } from '@toolyard/executors'
import { createFixture, showArguments, shownArguments, toolsFile, type Json, type SkillFixture } from './fixture.ts'

/** A skill whose tool runs the script `body` as the program `show`. */
async function callScript (fixture: SkillFixture, body: string, context = {}): ReturnType<SkillFixture['call']> {
  fixture.program('show', body)
  fixture.skill('one', { 'tools.json': toolsFile() })
  return await fixture.call(await fixture.load(), 'probe', {}, context)
}

/** A skill whose tool runs `binary` with `subcommand`. */
function pair (binary: string, subcommand: string): Json {
  return toolsFile([], { allowlist: { [binary]: [subcommand] }, execution: [{ tool: 'probe', binary, subcommand }] })
}

t.test('S36 the minimal example runs notesmd-cli search QUERY', async t => {
  const fixture = createFixture(t)
  fixture.program('notesmd-cli', showArguments)
  fixture.skill('notes', {
    'tools.json': {
      tools: [{
        name: 'notesmd_cli_search',
        description: 'Search notes by name.',
        parameters: { type: 'object', required: ['query'], properties: { query: { type: 'string', description: 'Search query for note names' } } }
      }],
      allowlist: { 'notesmd-cli': ['search', 'search-content', 'create', 'daily', 'print', 'print-default'] },
      execution: [{ tool: 'notesmd_cli_search', binary: 'notesmd-cli', subcommand: 'search', args: [{ param: 'query', kind: 'positional' }] }]
    }
  })
  const registry = await fixture.load()
  t.same(registry.findings, [])
  t.same(await fixture.call(registry, 'notesmd_cli_search', { query: 'two words' }), { ok: true, output: 'search\0two words\0' })
})

t.test('S10 SC12 the executor runs no pair that the allowlist does not hold', async t => {
  const fixture = createFixture(t)
  const audit = openAudit({ dir: join(fixture.base, 'audit'), redact: '', secrets: [], onError: () => {} })
  const executors = createExecutors({ workspaceDir: fixture.workspace, env: process.env, maxOutputBytes: 1_000, audit })
  t.teardown(() => executors.close())
  fixture.skill('one', { 'tools.json': toolsFile() })
  const tool = (await fixture.load()).get('probe')?.tool
  if (tool?.run.kind !== 'skill') throw new Error('no skill')
  const { run } = tool
  const context = { jobId: 'job-1', timeoutMs: 10_000, signal: new AbortController().signal, log: () => {} }
  const call = async (change: Partial<typeof run>) =>
    await executors.run({ ...tool, run: { ...run, ...change } } satisfies Tool, {}, context)
  const refused = (message: string): object => ({ ok: false, error: { code: 'NOT_ALLOWED', message } })
  t.same(await call({ binary: 'ls' }), refused('binary not allowlisted: ls'))
  t.same(await call({ binary: 'toString' }), refused('binary not allowlisted: toString'), 'a name that objects inherit')
  t.same(await call({ subcommand: 'other' }), refused('subcommand not allowlisted: show other'))
  t.same(await call({ subcommand: 'run ' }), refused('subcommand not allowlisted: show run '))
  t.same(await fixture.auditLines(), [])
})

t.test('SC12 a program that is not installed is TOOL_UNAVAILABLE, and a warning at load', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': pair('no-such-program', 'run') })
  const registry = await fixture.load()
  t.match(registry.findings, [{ severity: 'warning', rule: 'SC12', index: 0, tool: 'probe', message: 'tool[0] "probe": program "no-such-program" is not installed here' }])
  t.same(await fixture.call(registry, 'probe', {}), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: 'program "no-such-program" cannot be started: not found' } })
})

t.test('SC13 X20 a subcommand is matched as it is written and split on white space', async t => {
  for (const [subcommand, argv] of [['two words', ['two', 'words']], [' a\t b ', ['a', 'b']], ['', []]] as const) {
    const fixture = createFixture(t)
    fixture.skill('one', { 'tools.json': pair('show', subcommand) })
    const outcome = await fixture.call(await fixture.load(), 'probe', {})
    t.same(outcome, { ok: true, output: argv.length === 0 ? '\0' : argv.map(element => `${element}\0`).join('') }, JSON.stringify(subcommand))
  }
})

t.test('SC14 X9 the output is stdout as text, exactly: not trimmed, not parsed', async t => {
  for (const text of [' {"a": 1} \n\n', '', '0', 'null\n']) {
    t.same(await callScript(createFixture(t), `cat <<'E'\n${text}\nE`), { ok: true, output: `${text}\n` }, JSON.stringify(text))
  }
  t.same(await callScript(createFixture(t), 'true'), { ok: true, output: '' })
})

t.test('SC14 invalid UTF-8 becomes U+FFFD', async t => {
  t.same(await callScript(createFixture(t), 'printf "a\\377b"'), { ok: true, output: 'a\ufffdb' })
})

t.test('SC14 stderr is not part of the output; it goes to the log', async t => {
  const fixture = createFixture(t)
  t.same(await callScript(fixture, 'echo out; echo err >&2'), { ok: true, output: 'out\n' })
  t.same(fixture.logged, ['err'])
})

t.test('SC14 the message of a failure is stderr, else stdout, else the exit status or the signal', async t => {
  const failed = (message: string, details?: object): object => ({ ok: false, error: { code: 'TOOL_FAILED', message, ...details && { details } } })
  t.same(await callScript(createFixture(t), 'echo out; echo " broken " >&2; exit 3'), failed('broken', { stdout: 'out' }))
  t.same(await callScript(createFixture(t), 'echo out; exit 3'), failed('out'))
  t.same(await callScript(createFixture(t), 'exit 3'), failed('exit status 3'))
  t.same(await callScript(createFixture(t), 'kill -9 $$'), failed('signal: SIGKILL'))
  t.same(await callScript(createFixture(t), 'echo \'{"error": "no vault", "path": "x"}\' >&2; exit 1'), failed('no vault', { path: 'x' }))
})

t.test('SC15 stdin is empty, the working directory is the workspace', async t => {
  const fixture = createFixture(t)
  t.same(await callScript(fixture, 'cat; pwd'), { ok: true, output: `${fixture.workspace}\n` })
})

t.test('SC15 B17 output above the cap is counted and not kept', async t => {
  const outcome = await callScript(createFixture(t, 10), 'printf "123456789ä and more"')
  t.same(outcome, { ok: true, output: '123456789', cut: { bytes: 20, storedBytes: 9 } })
})

t.test('the error of a tool that misses a variable says that skills get none', async t => {
  t.match(await callScript(createFixture(t), 'set -u; echo $CITY_TOKEN'), { ok: false, error: { details: { hint: 'If CITY_TOKEN is an environment variable: tools of this kind get none but PATH, HOME and LANG. Give it as a parameter.' } } })
})

t.test('SC15 B17 a tool that runs too long is TOOL_TIMEOUT', async t => {
  t.same(await callScript(createFixture(t), 'sleep 60', { timeoutMs: 100 }), { ok: false, error: { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: 0.1 } } })
})

t.test('X19 B17 the environment is PATH, HOME and a locale, and nothing else of the worker', async t => {
  const run: SkillRun = { kind: 'skill', directory: '/', binary: 'env', subcommand: '', args: [], allowlist: { env: [''] }, allowScripts: false }
  const worker = join(import.meta.dirname, '../executors/plain-worker.js')
  const environment = ['PATH=/usr/bin:/bin', 'HOME=/home/someone', 'API_KEYS_JSON=[]', 'REDIS_URL=redis://x']
  const printed = execFileSync('/usr/bin/env', ['-i', ...environment, process.execPath, worker, JSON.stringify(run)], { encoding: 'utf8' })
  t.same(JSON.parse(printed), { ok: true, output: 'LANG=C.UTF-8\nPATH=/usr/bin:/bin\nHOME=/home/someone\n' })
})

t.test('X34 a run has a line in the audit, with its argv and no variables', async t => {
  const fixture = createFixture(t)
  await callScript(fixture, 'exit 3')
  const [line] = await fixture.auditLines()
  t.match(line, { tool: 'probe', job: 'job-1', argv: [join(fixture.bin, 'show'), 'run'], cwd: fixture.workspace, exit: 3 })
  t.notOk('envKeys' in (line ?? {}))
})

t.test('S9 a binary is looked up on PATH, and never in the workspace', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'planted'), '#!/bin/sh\necho wrong', { mode: 0o755 })
  fixture.skill('one', { 'tools.json': pair('planted', 'run') })
  const executors = createExecutors({
    workspaceDir: fixture.workspace,
    env: { PATH: `::.:bin:${process.env['PATH'] ?? ''}` },
    maxOutputBytes: 1_000,
    audit: openAudit({ dir: join(fixture.base, 'audit'), redact: '', secrets: [], onError: () => {} })
  })
  t.teardown(() => executors.close())
  const tool = (await fixture.load()).get('probe')?.tool
  if (tool === undefined) throw new Error('not loaded')
  const outcome = await executors.run(tool, {}, { jobId: 'job-1', timeoutMs: 10_000, signal: new AbortController().signal, log: () => {} })
  t.match(outcome, { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
})

t.test('S9 files on the PATH that can\'t be executed are skipped', async t => {
  const fixture = createFixture(t)
  mkdirSync(join(fixture.bin, 'echo'))
  chmodSync(fixture.program('basename', 'echo wrong'), 0o644)
  for (const binary of ['echo', 'basename']) {
    fixture.skill('one', { 'tools.json': pair(binary, 'run') })
    t.same(await fixture.call(await fixture.load(), 'probe', {}), { ok: true, output: 'run\n' }, binary)
  }
})

t.test('S9 a binary with a slash is an absolute path or one in the directory of the skill', async t => {
  const fixture = createFixture(t)
  const skill = fixture.skill('one', { 'tools.json': pair('./bin/own', 'run') })
  mkdirSync(join(skill, 'bin'))
  writeFileSync(join(skill, 'bin/own'), `#!/bin/sh\n${showArguments}`, { mode: 0o755 })
  t.same(await fixture.call(await fixture.load(), 'probe', {}), { ok: true, output: 'run\0' })
  fixture.skill('one', { 'tools.json': pair(join(fixture.bin, 'show'), 'run') })
  t.same(await fixture.call(await fixture.load(), 'probe', {}), { ok: true, output: 'run\0' })
})

t.test('S9 a relative binary that leads out of the directory of the skill does not run', async t => {
  const fixture = createFixture(t)
  const skill = fixture.skill('one', { 'tools.json': pair('../../bin/show', 'run') })
  t.match(await fixture.call(await fixture.load(), 'probe', {}), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
  fixture.skill('one', { 'tools.json': pair('./link', 'run') })
  symlinkSync(join(fixture.bin, 'show'), join(skill, 'link'))
  t.match(await fixture.call(await fixture.load(), 'probe', {}), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
})

t.test('S42 the program gets the value after normalizing and resolving', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', {
    'tools.json': toolsFile([{ param: 'a', normalizeNewlines: true, resolveCommand: { binary: 'printf', subcommand: '[%s]', args: ['$param'] } }], { allowlist: { show: ['run'], printf: ['[%s]'] } })
  })
  t.same(shownArguments(await fixture.call(await fixture.load(), 'probe', { a: 'x\\ty' })), ['[x\ty]'])
})
