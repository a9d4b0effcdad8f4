import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Outcome } from '@toolyard/executors'
import { createFixture, outputOf } from '../executors/fixture.ts'

const failed = (message: string): object => ({ ok: false, error: { code: 'TOOL_FAILED', message } })

t.test('workspace_list lists one directory by name, page by page', async t => {
  const fixture = createFixture(t)
  mkdirSync(join(fixture.workspace, 'dir/sub'), { recursive: true })
  for (const name of ['b', 'a', '.hidden']) writeFileSync(join(fixture.workspace, 'dir', name), name)
  symlinkSync('/etc', join(fixture.workspace, 'dir/link'))
  const list = async (args: object): Promise<Outcome> => await fixture.runBuiltin('workspace.list', { path: 'dir', ...args })
  t.match(outputOf(await list({})), {
    ok: true,
    path: 'dir',
    entries: [{ name: 'a', path: 'dir/a', type: 'file', size: 1, modified_at: /^\d{4}-.*Z$/ }, { name: 'b' }, { name: 'link', type: 'link' }, { name: 'sub', type: 'directory' }],
    entry_count: 4,
    total_count: 4
  })
  t.match(outputOf(await list({ max_results: 2 })), { entry_count: 2, next_cursor: 'b' })
  t.match(outputOf(await list({ max_results: 2, cursor: 'b' })), { entries: [{ name: 'link' }, { name: 'sub' }] })
  t.match(outputOf(await list({ include_hidden: true })), { entries: [{ name: '.hidden' }], total_count: 5 })
  t.match(outputOf(await fixture.runBuiltin('workspace.list', {})), { path: '.', entries: [{ path: 'dir' }] })
  t.same(await list({ path: 'dir/a' }), failed('path is not a directory'))
  t.same(await list({ path: 'dir/link' }), failed('path escapes workspace root'))
})

t.test('no tool makes, reads, moves or deletes a file with the name of one in the making', async t => {
  const fixture = createFixture(t, { builtins: { workspaceDelete: true } })
  const name = `.toolyard-${'0'.repeat(32)}.tmp`
  writeFileSync(join(fixture.workspace, 'file'), 'x')
  mkdirSync(join(fixture.workspace, 'dir'))
  const refused = { ok: false, error: { code: 'NOT_ALLOWED' } }
  t.match(await fixture.runBuiltin('data.write_file', { path: name, mode: 'replace', content: 'x', create_if_missing: true }), refused)
  for (const from of ['file', 'dir']) t.match(await fixture.runBuiltin('workspace.move', { from, to: name }), refused)
  writeFileSync(join(fixture.workspace, name), 'x')
  t.match(await fixture.runBuiltin('data.file_read', { path: name }), refused)
  t.match(await fixture.runBuiltin('workspace.move', { from: name, to: 'other' }), refused)
  t.match(await fixture.runBuiltin('workspace.delete', { path: name }), refused)
  t.same(readdirSync(fixture.workspace).sort(), [name, 'dir', 'file'])
})

t.test('workspace_stat returns type, size, mode and hash', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), 'content', { mode: 0o640 })
  symlinkSync('file', join(fixture.workspace, 'link'))
  const stat = async (path: string): Promise<Outcome> => await fixture.runBuiltin('workspace.stat', { path })
  t.match(outputOf(await stat('link')), { ok: true, path: 'file', type: 'file', size: 7, mode: '0640', sha256: createHash('sha256').update('content').digest('hex') })
  t.match(outputOf(await stat('.')), { path: '.', type: 'directory' })
  t.same(await stat('missing'), failed('path not found'))
})

t.test('workspace_move renames files, directories and links, and replaces a file only when asked to', async t => {
  const fixture = createFixture(t)
  const move = async (args: object): Promise<Outcome> => await fixture.runBuiltin('workspace.move', { ...args })
  mkdirSync(join(fixture.workspace, 'dir'))
  writeFileSync(join(fixture.workspace, 'dir/file'), 'x')
  writeFileSync(join(fixture.workspace, 'other'), 'other')
  symlinkSync('/nowhere', join(fixture.workspace, 'link'))
  t.same(outputOf(await move({ from: 'dir/file', to: 'new' })), { ok: true, from: 'dir/file', to: 'new', overwritten: false })
  t.same(await move({ from: 'new', to: 'other' }), failed('target exists (set overwrite=true to replace it)'))
  t.match(outputOf(await move({ from: 'new', to: 'other', overwrite: true })), { overwritten: true })
  t.equal(readFileSync(join(fixture.workspace, 'other'), 'utf8'), 'x')
  t.same(await move({ from: 'other', to: 'dir', overwrite: true }), failed('target is a directory (name the path of the moved entry itself)'))
  t.same(await move({ from: 'other', to: 'a/b' }), failed('parent directory does not exist (set mkdir_p=true)'))
  outputOf(await move({ from: 'other', to: 'a/b', mkdir_p: true }))
  outputOf(await move({ from: 'link', to: 'dir/moved' }))
  outputOf(await move({ from: 'dir', to: 'a/dir' }))
  t.same(await move({ from: 'a', to: 'a/inside' }), failed('a directory cannot be moved into itself'))
  t.same(await move({ from: '.', to: 'x' }), failed('the workspace itself cannot be moved'))
  t.same(await move({ from: 'missing', to: 'x' }), failed('path not found'))
  t.same(await move({ from: 'a', to: '../x' }), failed('path escapes workspace root'))
  t.same(await move({ from: 'a' }), failed('to is required'))
  t.same(readdirSync(fixture.workspace, { recursive: true }).sort(), ['a', 'a/b', 'a/dir', 'a/dir/moved'])
})

t.test('workspace_delete is listed only while it is switched on, and doesn\'t delete the targets of links', async t => {
  const off = createFixture(t)
  t.match(await off.runBuiltin('workspace.delete', { path: 'x' }), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
  const fixture = createFixture(t, { builtins: { workspaceDelete: true } })
  const remove = async (args: object): Promise<Outcome> => await fixture.runBuiltin('workspace.delete', { ...args })
  const outside = join(fixture.workspace, '../outside')
  mkdirSync(join(fixture.workspace, 'dir/sub'), { recursive: true })
  mkdirSync(outside)
  writeFileSync(join(outside, 'kept'), '')
  writeFileSync(join(fixture.workspace, 'dir/sub/file'), '')
  symlinkSync(outside, join(fixture.workspace, 'dir/link'))
  symlinkSync(outside, join(fixture.workspace, 'link'))
  t.same(await remove({ path: 'dir' }), failed('directory is not empty (set recursive=true to delete what is in it)'))
  t.same(await remove({ path: '.', recursive: true }), failed('the workspace itself cannot be deleted'))
  t.same(await remove({ path: 'link/kept' }), failed('path escapes workspace root'))
  t.same(outputOf(await remove({ path: 'link' })), { ok: true, path: 'link', type: 'link', deleted_count: 1 })
  t.same(outputOf(await remove({ path: 'dir', recursive: true })), { ok: true, path: 'dir', type: 'directory', deleted_count: 4 })
  t.same(await remove({ path: 'dir' }), failed('path not found'))
  t.same(readdirSync(fixture.workspace), [])
  t.ok(existsSync(join(outside, 'kept')))
})

t.test('a path leads at most 64 levels below the workspace, also through links', async t => {
  const fixture = createFixture(t)
  const write = async (path: string): Promise<Outcome> => await fixture.runBuiltin('data.write_file', { path, content: 'x', create_if_missing: true, mkdir_p: true })
  const tooDeep = failed('the path leads deeper than 64 levels below the workspace')
  const deepest = `${'d/'.repeat(63)}file`
  t.same(await write(`d/${deepest}`), tooDeep)
  t.notOk(existsSync(join(fixture.workspace, 'd')), 'nothing is made on the way')
  t.match(outputOf(await write(deepest)), { ok: true, path: deepest })
  t.match(outputOf(await fixture.runBuiltin('data.file_read', { path: `${'d/../'.repeat(100)}${deepest}` })), { content_text: 'x' })
  symlinkSync('d/'.repeat(40), join(fixture.workspace, 'half'))
  t.match(outputOf(await fixture.runBuiltin('workspace.stat', { path: `half/${'d/'.repeat(23)}file` })), { path: deepest })
  symlinkSync('../'.repeat(10), join(fixture.workspace, 'd/'.repeat(40), 'up'))
  t.match(outputOf(await fixture.runBuiltin('workspace.stat', { path: `half/up/${'d/'.repeat(33)}file` })), { path: deepest })
  mkdirSync(join(fixture.workspace, 'd/'.repeat(64)))
  t.same(await write(`half/${'d/'.repeat(24)}file`), tooDeep)
  t.same(await fixture.runBuiltin('workspace.move', { from: 'half', to: `${'d/'.repeat(64)}half` }), tooDeep)
  t.same(await fixture.runBuiltin('tools.find_in_files', { query: 'x', files: [`d/${deepest}`] }), tooDeep)
  t.match(outputOf(await fixture.runBuiltin('workspace.move', { from: 'd'.concat('/d'.repeat(30)), to: 'up' })), { ok: true })
})
