import fc from 'fast-check'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createFixture, outputOf, type Fixture } from '../executors/fixture.ts'
import { withoutBox } from '../sandbox/boxed-tools.ts'
import { createService } from '../support/service.ts'
import { writeFiles } from '../support/files.ts'

t.setTimeout(120_000)

const secret = 'the-secret-of-the-service'
/** Of a service whose directory is `svc` in the workspace. */
const own = ['svc/.env', 'svc/.toolyard', 'svc/logs/audit', 'svc/keys/api']
const files = ['svc/.env', 'svc/.env.local', 'svc/.toolyard/data/queue', 'svc/keys/api']

function layOut (t: Test): Fixture {
  const fixture: Fixture = createFixture(t, { builtins: { workspaceDelete: true, exec: { allowlist: ['ls', 'cat'] } }, serviceFiles: own })
  const at = (path: string): string => join(fixture.workspace, path)
  for (const path of [...files, 'svc/open', 'svc/other/file']) writeFiles(fixture.workspace, { [path]: files.includes(path) ? `KEY=${secret}\n` : 'nothing of it\n' })
  mkdirSync(at('links'))
  symlinkSync('../svc/.env', at('links/file'))
  symlinkSync('../svc/.toolyard', at('links/directory'))
  symlinkSync(at('svc'), at('links/service'))
  symlinkSync('service/keys/../.env', at('links/chain'))
  linkSync(at('svc/.env'), at('links/second'))
  linkSync(at('svc/.toolyard/data/queue'), at('links/second-inside'))
  return fixture
}

/** Spellings of what the service keeps, by which a caller may come. */
const ways = [
  ...files, 'svc/./.env', 'svc//.env', 'svc/other/../.env', 'workspace/svc/.env', './svc/keys/../.env', 'links/file', 'links/directory/data/queue', 'links/service/.env',
  'links/service/.toolyard/data/queue', 'links/chain', 'links/second', 'links/second-inside'
]

/** One by itself, not on the way. */
const isLink = (path: string): boolean => /links\/(?:file|directory|chain)$/.test(path)

void t.test('fault 13 no built-in tool reads, shows or changes a file of the service, by any path', async t => {
  const fixture = layOut(t)
  const before = files.map(path => readFileSync(join(fixture.workspace, path), 'utf8'))
  const calls = (path: string): Array<[string, Record<string, unknown>]> => [
    ['data.file_read', { path }],
    ['data.file_read', { path, start_line: 1, max_lines: 1 }],
    ['data.write_file', { path, content: 'x' }],
    ['data.write_file', { path, content: 'x', dry_run: true }],
    ['data.write_file', { path, content: 'x', mode: 'append', create_if_missing: true, mkdir_p: true }],
    ['data.write_file', { path, mode: 'edit', old_text: 'KEY', new_text: 'x', dry_run: true }],
    ['workspace.stat', { path }],
    ['workspace.list', { path }],
    ['workspace.move', { from: 'svc/open', to: path, overwrite: true }],
    ['tools.find_in_files', { query: 'KEY', files: [path] }],
    ['tools.find_in_files', { query: 'KEY', path }],
    ['tool.exec', { command: 'ls', cwd: path }],
    // A link may be moved and removed: what it leads to stays.
    ...isLink(path) ? [] : [['workspace.move', { from: path, to: 'moved' }], ['workspace.delete', { path }]] as Array<[string, Record<string, unknown>]>
  ]
  for (const way of [...ways, ...ways.filter(path => !path.startsWith('workspace/')).map(path => join(fixture.workspace, path))]) {
    for (const [jobType, args] of calls(way)) {
      // A path for a new file begins at the workspace itself.
      if (way.startsWith('workspace/') && (args['create_if_missing'] === true || args['to'] === way)) continue
      if (jobType === 'workspace.move' && args['to'] === way && isLink(way)) continue
      const outcome = await fixture.runBuiltin(jobType, args)
      const what = `${jobType} ${JSON.stringify(args)}`
      t.match(outcome, { ok: false, error: { code: /TOOL_FAILED|NOT_ALLOWED/ } }, what)
      t.notOk(JSON.stringify(outcome).includes(secret), what)
      if (outcome.ok) return
    }
  }
  t.strictSame(files.map(path => readFileSync(join(fixture.workspace, path), 'utf8')), before)
})

void t.test('fault 13 the message says that the path belongs to the service', async t => {
  const fixture = layOut(t)
  for (const path of ['svc/.env', 'svc/.toolyard/nothing', 'links/second']) {
    t.match(await fixture.runBuiltin('data.file_read', { path }), { ok: false, error: { code: 'NOT_ALLOWED', message: 'the path leads to a file of the service, which tools may not use' } })
  }
})

void t.test('fault 13 neither lists nor searches show files of the service', async t => {
  const fixture = layOut(t)
  for (const args of [{}, { include_hidden: true }, { include_hidden: true, include_ignored: true }]) {
    const list = async (path: string): Promise<string[]> => (outputOf(await fixture.runBuiltin('workspace.list', { path, ...args })) as { entries: Array<{ name: string }> }).entries.map(({ name }) => name)
    t.strictSame(await list('svc'), ['keys', 'open', 'other'])
    t.strictSame(await list('svc/keys'), [])
    t.strictSame(await list('links'), ['chain', 'directory', 'file', 'service'])
    t.match(outputOf(await fixture.runBuiltin('workspace.list', { path: 'svc', ...args })), { total_count: 3 })
    for (const search of [{ query: 'KEY' }, { query: secret }, { query: '^KEY=.*', regex: true }, { query: 'KEY', path: 'svc' }, { query: 'KEY', path: 'links' }, { query: 'KEY', glob: '**/.env' }]) {
      t.match(outputOf(await fixture.runBuiltin('tools.find_in_files', { ...search, ...args })), { match_count: 0 }, JSON.stringify(search))
    }
    for (const query of ['.env', 'toolyard', 'queue', 'api', 'second']) {
      t.match(outputOf(await fixture.runBuiltin('tools.file_search', { query, ...args })), { results: [] }, query)
    }
    t.match(outputOf(await fixture.runBuiltin('tools.file_search', { query: 'links/', ...args })), { results: [{ path: 'links/service', type: 'directory' }] }, 'links to what is hidden lead nowhere')
  }
})

void t.test('fault 13 a directory that holds files of the service is neither moved nor deleted, and nothing is made in their place', async t => {
  const fixture = layOut(t)
  for (const [jobType, args] of [
    ['workspace.move', { from: 'svc', to: 'elsewhere' }],
    ['workspace.move', { from: 'svc/keys', to: 'keys' }],
    ['workspace.delete', { path: 'svc', recursive: true }],
    ['workspace.delete', { path: 'links/service/keys', recursive: true }],
    ['data.write_file', { path: 'svc/logs/audit/day', content: 'x', create_if_missing: true, mkdir_p: true }],
    ['workspace.move', { from: 'svc/other', to: 'svc/logs' }],
    ['workspace.move', { from: 'svc/open', to: 'svc/logs/audit', mkdir_p: true }]
  ] as const) {
    t.match(await fixture.runBuiltin(jobType, args), { ok: false, error: { code: 'NOT_ALLOWED' } }, JSON.stringify(args))
  }
  t.strictSame(readdirSync(join(fixture.workspace, 'svc')).sort(), ['.env', '.env.local', '.toolyard', 'keys', 'open', 'other'])
  t.match(await fixture.runBuiltin('workspace.move', { from: 'svc/other', to: 'svc/more' }), { ok: true })
  t.match(await fixture.runBuiltin('workspace.delete', { path: 'svc/more', recursive: true }), { ok: true })
  t.match(await fixture.runBuiltin('workspace.delete', { path: 'links/file' }), { ok: true })
  t.ok(existsSync(join(fixture.workspace, 'svc/.env')))
})

void t.test('fault 13 a file of the service that is replaced or made later is refused as well', async t => {
  const fixture = layOut(t)
  const at = (path: string): string => join(fixture.workspace, path)
  writeFileSync(at('svc/draft'), secret)
  renameSync(at('svc/draft'), at('svc/.env'))
  mkdirSync(at('svc/logs/audit'), { recursive: true })
  writeFileSync(at('svc/logs/audit/day'), secret)
  for (const path of ['svc/.env', 'links/file', 'svc/logs/audit/day']) t.match(await fixture.runBuiltin('data.file_read', { path }), { error: { code: 'NOT_ALLOWED' } }, path)
  t.match(outputOf(await fixture.runBuiltin('tools.find_in_files', { query: secret, include_hidden: true, path: 'svc' })), { match_count: 0 })
  t.match(await fixture.runBuiltin('data.file_read', { path: 'links/second' }), { ok: true }, 'what was the file of the service is one of the workspace now')
})

void t.test('fault 13 no path through links leads a reader to a file of the service', async t => {
  const fixture = layOut(t)
  const step = fc.constantFrom('svc', 'links', '.env', '.toolyard', 'data', 'queue', 'keys', 'api', 'service', 'directory', 'file', 'chain', 'second', '..', '.', 'other', 'open')
  await t.resolves(fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), async steps => {
    const outcomes = await Promise.all(['data.file_read', 'workspace.stat'].map(jobType => fixture.runBuiltin(jobType, { path: steps.join('/') })))
    return outcomes.every(outcome => !JSON.stringify(outcome).includes(secret) && !JSON.stringify(outcome).includes('"size":30'))
  }), { numRuns: 500 }))
})

void t.test('fault 13 the built-in tools of a service whose workspace is its own directory see none of its files', async t => {
  const { client } = await createService(t, {
    files: { '.env': `REDACT=${secret}\n`, callback: secret, 'notes.txt': 'NOTES\n' },
    env: { WORKSPACE_DIR: '.', AUDIT_DIR: '.toolyard/audit', CALLBACK_SECRET_FILE: 'callback', HOME: '/nonexistent', SANDBOX: 'off' }
  })
  const { results } = await client.batch([
    { call_id: 'read', name: 'data_file_read', arguments: { path: '.env' } },
    { call_id: 'secret', name: 'data_file_read', arguments: { path: 'callback' } },
    { call_id: 'search', name: 'tools_find_in_files', arguments: { query: secret, include_hidden: true } },
    { call_id: 'list', name: 'workspace_list', arguments: { include_hidden: true } },
    { call_id: 'write', name: 'data_write_file', arguments: { path: '.toolyard/x', content: 'x', create_if_missing: true } },
    { call_id: 'notes', name: 'data_file_read', arguments: { path: 'notes.txt' } }
  ])
  const answers = new Map(results.map(result => [result.call_id, result]))
  for (const call of ['read', 'secret', 'write']) t.match(answers.get(call), { ok: false, error: { code: 'NOT_ALLOWED' } }, call)
  t.match(answers.get('search'), { ok: true, output: { match_count: 0 } })
  const { entries } = answers.get('list')?.output as { entries: Array<{ name: string }> }
  t.notOk(entries.some(({ name }) => /^\.env|^\.toolyard|^callback/.test(name)), JSON.stringify(entries))
  t.match(answers.get('notes'), { ok: true })
})

void t.test('fault 13 no caller changes what the service serves: its manifests, their programs, its rules and what was accepted', async t => {
  const text = JSON.stringify({ tools: [{ name: 'more', command: ['/usr/bin/env'], permissions: ['network'] }] })
  const { client, dir } = await createService(t, {
    files: { 'rules.json': '[]', 'skills/one/SKILL.md': '---\nname: one\ndescription: Does one.\n---\nText\n', 'tools/bin/one': '#!/bin/sh\n', 'notes.txt': 'NOTES\n' },
    manifests: ['tools.json', 'skills'],
    env: { WORKSPACE_DIR: '.', POLICY_FILE: 'rules.json', HOME: '/nonexistent', SANDBOX: 'off' }
  })
  const write = async (path: string): Promise<object> => await client.call('data_write_file', { path, content: text, create_if_missing: true, mkdir_p: true })
  const move = async (from: string, to: string): Promise<object> => await client.call('workspace_move', { from, to })
  for (const path of ['tools.json', 'toolyard.lock.json', 'rules.json', 'skills/one/SKILL.md', 'skills/two/SKILL.md', 'tools/bin/one', 'tools/bin/two']) {
    t.match(await write(path), { ok: false, error: { code: 'NOT_ALLOWED' } }, path)
    t.match(await move('notes.txt', path), { ok: false, error: { code: 'NOT_ALLOWED' } }, `moved to ${path}`)
    t.match(await move(path, 'elsewhere'), { ok: false }, `moved from ${path}`)
  }
  t.match(await client.call('data_file_read', { path: 'skills/one/SKILL.md' }), { ok: true, output: { content_text: /Does one/ } }, 'reading gives nobody anything')
  t.match(await client.call('tools_file_search', { query: 'tools.json' }), { ok: true, output: { results: [{ path: 'tools.json' }] } })
  t.equal((await client.request('/v1/files/tools.json')).status, 200)
  const put = await client.request('/v1/files/tools.json', { method: 'PUT', body: text, headers: { 'content-type': 'application/octet-stream' } })
  t.match(put, { status: 403 }, put.text)
  t.strictSame(JSON.parse(readFileSync(join(dir, 'tools.json'), 'utf8')), { tools: [] })
  t.match(await write('other.json'), { ok: true })
})

void t.test('fault 13 no process writes into a workspace that holds a manifest; it may read it, and write in a session', { skip: await withoutBox() }, async t => {
  const entry = { command: ['/bin/ls'], schema: { type: 'object' } }
  const { client } = await createService(t, {
    files: {
      'workspace/tools.json': JSON.stringify({ tools: [{ ...entry, name: 'reads', permissions: ['read_repo'] }, { ...entry, name: 'writes', permissions: ['write_files'] }] })
    },
    manifests: ['workspace/tools.json'],
    env: { SANDBOX: 'require' }
  })
  t.match(await client.call('reads'), { ok: true, output: /^tools\.json$/m })
  t.match(await client.call('writes'), { ok: false, error: { code: 'SANDBOX_FAILED', message: /the workspace holds files of the service \(tools\.json\), so no tool may write to it/ } })
  t.match(await client.call('writes', {}, { session: await client.session() }), { ok: true })
})
