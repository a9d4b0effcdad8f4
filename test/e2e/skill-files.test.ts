import t from 'tap'
import { createService, makeKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ acme: { tenant: 'acme' }, other: { tenant: 'other' } })

/** A skill of the shape that the format's own project publishes: files, and a repository with protected branches. */
const tool = (name: string, names: string[], required: string[] = []): object => ({
  name, description: `${name} of a workspace`, parameters: { type: 'object', properties: Object.fromEntries(names.map(each => [each, { type: 'string' }])), required }
})
const repo = { param: 'repo', kind: 'workingdir', optional: true }
const files = {
  'skills/notes/active': '1f41\n',
  'skills/notes/versions/1f41/SKILL.md': '---\ndescription: Reads and writes notes.\ncapability_tier: minimal\nmetadata: {requires: {bins: [[no-such-program], [cat, tee]]}}\n---\nUse notes_read.\n',
  'skills/notes/versions/1f41/tools.json': JSON.stringify([
    tool('notes_read', ['path'], ['path']), tool('notes_write', ['path', 'text'], ['path', 'text']), tool('notes_peek', ['path', 'target'], ['path']), tool('notes_branch', ['repo', 'branch']),
    tool('notes_new', ['path']), tool('notes_swap', ['path'])
  ]),
  'skills/notes/versions/1f41/allowlist.json': JSON.stringify({ cat: [''], tee: [''], sh: ['-c'], touch: [''] }),
  'skills/notes/versions/1f41/execution.json': JSON.stringify([
    {
      tool: 'notes_read',
      binary: 'cat',
      subcommand: '',
      args: [{ param: 'path', readPath: true }],
      condition: { binGroup: 1 },
      successExitCodes: [1],
      hintConditions: [{ exitCode: 'nonzero', hint: 'there is no note {path}' }],
      maxOutputLines: 2,
      sideRead: { pathParam: 'path', filename: 'x' }
    },
    { tool: 'notes_write', binary: 'tee', subcommand: '', args: [{ param: 'path', writePath: true }, { param: 'text', kind: 'stdin' }] },
    // Tries to write what it may only read.
    { tool: 'notes_peek', binary: 'touch', subcommand: '', args: [{ param: 'path', readPath: true }] },
    { tool: 'notes_branch', binary: 'cat', subcommand: '', args: [{ ...repo, denyPattern: '^(main|release/.+)$', denyAlwaysResolve: true, denyResolveCommand: { script: 'branch', args: ['$workingDir'] } }, { kind: 'literal', value: 'HEAD' }] },
    // Puts a link in the place of the file, after its path was looked at.
    { tool: 'notes_swap', binary: 'cat', subcommand: '', args: [{ param: 'path', writePath: true, denyPattern: '^never$', denyAlwaysResolve: true, denyResolveCommand: { script: 'swap', args: ['$path'] } }] },
    { tool: 'notes_new', binary: 'cat', subcommand: '', args: [{ param: 'path', readPath: true, mayOnly: 'x' }] }
  ]),
  'skills/notes/versions/1f41/scripts/branch.sh': 'cat "$1/HEAD"\n',
  'skills/notes/versions/1f41/scripts/swap.sh': 'rm -f "$1" && ln -s ../secret.txt "$1" && echo swapped\n',
  'secret.txt': 'a secret',
  'layer.json': JSON.stringify({ tools: [{ skill: 'notes', permissions: ['read_repo', 'write_files'] }] })
}
const service = await createService(t, {
  files,
  manifests: ['skills', 'layer.json'],
  env: {
    TOOL_DEFAULT_PERMISSIONS: 'none',
    SKILLS_ALLOW_SCRIPTS: '1',
    API_KEYS_JSON
  }
})
const { client } = service
const isBoxed = (await service.workers[0]?.output() ?? '').includes('the sandbox is whole')

async function call (name: string, args: object, { key, session }: { key: string, session: string }): Promise<unknown> {
  const { results: [result] } = await client.batch([{ call_id: 'c', name, arguments: args }], { session }, key)
  return result?.ok === true ? result.output : result?.error
}

const acme = { key: keys.acme, session: await client.session(keys.acme) }
const other = { key: keys.other, session: await client.session(keys.other) }

t.test('SN21 SN22 SN34 SN37 tools of the active version write and read files in sessions of two tenants, each its own', async t => {
  t.equal(await call('notes_write', { path: 'new/a.md', text: 'acme\n-x\nthird\n' }, acme), 'acme\n-x\nthird\n')
  t.equal(await call('notes_write', { path: 'b.md', text: 'other' }, other), 'other')
  t.equal(await call('notes_read', { path: 'new/a.md' }, acme), 'acme\n-x\n\n[output truncated: 2 of 3 lines shown; 1 lines omitted. Narrow your query path, pattern, or range to reduce results.]')
  t.match(await call('notes_read', { path: 'new/a.md' }, other), /hint: there is no note .*new\/a\.md$/)
  t.match(await call('notes_read', { path: '../../etc/passwd' }, acme), { code: 'NOT_ALLOWED', message: /inside the workspace/ })
  t.match(await call('notes_read', { path: 'a', more: 1 }, acme), { code: 'INVALID_ARGUMENTS' })
})

t.test('SN39 a tool that reads a path and writes none finds the workspace read-only, though its skill may write', { skip: !isBoxed && 'no whole sandbox' }, async t => {
  t.match(await call('notes_peek', { path: 'b.md' }, other), { code: 'TOOL_FAILED', message: /[Rr]ead-only file system/ })
  t.equal(await call('notes_read', { path: 'b.md' }, other), 'other')
})

t.test('SN21 SN39 a link that takes the place of a file after its path was looked at leads nowhere', { skip: !isBoxed && 'no whole sandbox' }, async t => {
  await call('notes_write', { path: 'swapped', text: 'x' }, other)
  t.match(await call('notes_swap', { path: 'swapped' }, other), { code: 'TOOL_FAILED', message: /No such file or directory/ })
  t.match(await call('notes_read', { path: 'swapped' }, other), { code: 'NOT_ALLOWED' }, 'the next call sees the link')
})

t.test('SN25 SN26 a call on a protected branch is refused before its program runs', async t => {
  await call('notes_write', { path: 'repo/HEAD', text: 'release/1' }, acme)
  t.match(await call('notes_branch', { repo: 'repo' }, acme), { code: 'NOT_ALLOWED', message: /"release\/1" matches deny pattern/ })
  await call('notes_write', { path: 'repo/HEAD', text: 'topic' }, acme)
  t.equal(await call('notes_branch', { repo: 'repo' }, acme), 'topic')
})

t.test('SN4 a tool with a field that nobody knows is not listed, and says why when it is called', async t => {
  const { body } = await client.request<{ tools: Array<{ function: { name: string } }> }>('/v1/agent-tools', { key: keys.acme })
  const names = body.tools.map(each => each.function.name).filter(name => name.startsWith('notes_'))
  t.same(names.sort(), ['notes_branch', 'notes_peek', 'notes_read', 'notes_swap', 'notes_write'])
  t.match(await call('notes_new', { path: 'a' }, acme), { code: 'TOOL_UNAVAILABLE', message: /unknown field `mayOnly`.*it may be a protection/ })
})
