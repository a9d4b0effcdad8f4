import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Outcome } from '@toolyard/executors'
import { createFixture, outputOf, type Fixture } from '../executors/fixture.ts'

const failed = (message: string): object => ({ ok: false, error: { code: 'TOOL_FAILED', message } })
const write = async (fixture: Fixture, args: Record<string, unknown>): Promise<Outcome> => await fixture.runBuiltin('data.write_file', args)
const sha = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Writes to a file that holds `before`, and returns what it holds then. */
async function changed (fixture: Fixture, before: string | Buffer, args: Record<string, unknown>): Promise<string> {
  writeFileSync(join(fixture.workspace, 'file'), before)
  outputOf(await write(fixture, { path: 'file', ...args }))
  return readFileSync(join(fixture.workspace, 'file'), 'utf8')
}

t.test('RC37 a file is replaced, and the answer describes the old and the new one', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), 'old')
  t.same(outputOf(await write(fixture, { path: './file', content: 'newer' })), {
    ok: true,
    path: 'file',
    mode: 'replace',
    dry_run: false,
    changed: true,
    created: false,
    bytes_before: 3,
    bytes_after: 5,
    sha256_before: sha('old'),
    sha256_after: sha('newer'),
    preview_before: 'old',
    preview_after: 'newer'
  })
  t.equal(readFileSync(join(fixture.workspace, 'file'), 'utf8'), 'newer')
  t.match(outputOf(await write(fixture, { path: 'file', content: 'newer' })), { changed: false })
})

t.test('RC37 append, prepend, insert_at and replace_range change a part', async t => {
  const fixture = createFixture(t)
  t.equal(await changed(fixture, 'b', { mode: 'append', content: 'c' }), 'bc')
  t.equal(await changed(fixture, 'b', { mode: 'prepend', content: 'a' }), 'ab')
  t.equal(await changed(fixture, 'añb', { mode: 'insert_at', offset: 2, content: '-' }), 'añ-b')
  t.equal(await changed(fixture, 'one\ntwo\n', { mode: 'insert_at', start_line: 2, content: 'new' }), 'one\nnew\ntwo\n')
  t.equal(await changed(fixture, 'one\ntwo', { mode: 'insert_at', start_line: 3, content: 'new' }), 'one\ntwo\nnew\n')
  t.equal(await changed(fixture, '', { mode: 'insert_at', start_line: 1, content: 'new' }), 'new\n')
  t.equal(await changed(fixture, 'one\r\ntwo\r\n', { mode: 'insert_at', start_line: 1, content: 'new' }), 'new\r\none\r\ntwo\r\n')
  t.equal(await changed(fixture, '0123456', { mode: 'replace_range', start: 2, end: 4, content: 'x' }), '01x456')
  t.equal(await changed(fixture, 'a\nb\nc\nd', { mode: 'replace_range', start_line: 2, end_line: 3, content: 'x' }), 'a\nx\nd')
  t.equal(await changed(fixture, 'a\nb\nc\n', { mode: 'replace_range', start_line: 2, content: '' }), 'a\nc\n')
  t.equal(await changed(fixture, 'a\nb', { mode: 'replace_range', start_line: 2, content: 'x' }), 'a\nx')
})

t.test('RC37 positions outside the file are refused', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), 'a\nb\n')
  const bad = [
    [{ mode: 'replace_range', start: 3, end: 1 }, 'input.end must be >= input.start'],
    [{ mode: 'replace_range', start_line: 2, end_line: 1 }, 'input.end_line must be >= input.start_line'],
    [{ mode: 'replace_range', start_line: 3 }, 'input.start_line is 3, after the end of the file (2)'],
    [{ mode: 'replace_range', start: 0, end: 5 }, 'input.end is 5, after the end of the file (4)'],
    [{ mode: 'insert_at', offset: 5 }, 'input.offset is 5, after the end of the file (4)'],
    [{ mode: 'insert_at' }, 'input.offset must be an offset in characters, from 0'],
    [{ mode: 'insert_at', start_line: 0 }, 'input.start_line must be a line number, from 1']
  ] as const
  for (const [args, message] of bad) t.same(await write(fixture, { path: 'file', content: 'x', ...args }), failed(message), message)
  t.equal(readFileSync(join(fixture.workspace, 'file'), 'utf8'), 'a\nb\n')
})

t.test('RC37 content is either a text or base64', async t => {
  const fixture = createFixture(t)
  const bytes = Buffer.from([0, 255, 10, 128])
  outputOf(await write(fixture, { path: 'bytes', content_base64: bytes.toString('base64'), create_if_missing: true }))
  t.same(readFileSync(join(fixture.workspace, 'bytes')), bytes)
  t.same(await write(fixture, { path: 'bytes', content: 'a', content_base64: 'YQ==' }), failed('input.content and input.content_base64 are mutually exclusive'))
  t.same(await write(fixture, { path: 'bytes' }), failed("mode 'replace' requires input.content or input.content_base64"))
  t.same(await write(fixture, { path: 'bytes', content_base64: 'no base64!' }), failed('input.content_base64 is not base64'))
  t.same(await write(fixture, { path: 'bytes', mode: 'insert_at', offset: 0, content: 'a' }), failed('the file is not UTF-8 text'))
})

t.test('RC37 a missing file or directory is made only when that is asked for', async t => {
  const fixture = createFixture(t)
  t.same(await write(fixture, { path: 'new', content: 'x' }), failed('file not found (set create_if_missing=true to create)'))
  for (const mode of ['insert_at', 'replace_range', 'edit', 'apply_patch']) {
    const args = { content: 'x', start_line: 1, old_text: 'a', new_text: 'b', patch: '@@ -1 +1 @@\n-a\n+b\n' }
    t.same(await write(fixture, { path: 'new', mode, ...args, create_if_missing: true }), failed(`mode '${mode}' requires an existing file (read it first with data.file_read)`))
  }
  t.match(outputOf(await write(fixture, { path: 'new', content: 'x', create_if_missing: true })), { created: true, changed: true, bytes_before: 0, sha256_before: null })
  t.match(outputOf(await write(fixture, { path: 'empty', content: '', create_if_missing: true })), { created: true, changed: true })
  t.same(await write(fixture, { path: 'a/b/new', content: 'x', create_if_missing: true }), failed('parent directory does not exist (set mkdir_p=true)'))
  outputOf(await write(fixture, { path: 'a/b/new', content: 'x', create_if_missing: true, mkdir_p: true }))
  t.equal(readFileSync(join(fixture.workspace, 'a/b/new'), 'utf8'), 'x')
})

t.test('RC37 a dry run changes nothing and shows the diff', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), 'a\nb\n')
  const output = outputOf(await write(fixture, { path: 'file', content: 'a\nc\n', dry_run: true })) as { diff: string }
  t.match(output, { dry_run: true, changed: true, sha256_after: sha('a\nc\n') })
  t.match(output.diff, '@@ -1,2 +1,2 @@\n a\n-b\n+c\n')
  outputOf(await write(fixture, { path: 'new', content: 'x', create_if_missing: true, dry_run: true }))
  t.same(readdirSync(fixture.workspace), ['file'])
  t.equal(readFileSync(join(fixture.workspace, 'file'), 'utf8'), 'a\nb\n')
})

t.test('RC37 with expected_sha256, a file that has changed is not written', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), 'mine')
  t.same(await write(fixture, { path: 'file', content: 'x', expected_sha256: sha('other') }), failed(`sha256 mismatch: expected ${sha('other')}, got ${sha('mine')}`))
  t.same(await write(fixture, { path: 'gone', content: 'x', create_if_missing: true, expected_sha256: sha('') }), failed(`sha256 mismatch: expected ${sha('')}, got no file`))
  t.match(outputOf(await write(fixture, { path: 'file', content: 'x', expected_sha256: sha('mine').toUpperCase() })), { changed: true })
})

t.test('RC37 max_bytes bounds the file that results', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), 'x'.repeat(500))
  t.same(await write(fixture, { path: 'file', mode: 'append', content: 'x'.repeat(13), max_bytes: 512 }), failed('the file would have 513 bytes; max_bytes is 512'))
  t.match(outputOf(await write(fixture, { path: 'file', mode: 'append', content: 'x'.repeat(12), max_bytes: 512 })), { bytes_after: 512 })
})

t.test('RC37 permissions stay, a link stays a link, and nothing else is left in the directory', async t => {
  const fixture = createFixture(t)
  mkdirSync(join(fixture.workspace, 'dir'))
  writeFileSync(join(fixture.workspace, 'dir/script'), 'old')
  chmodSync(join(fixture.workspace, 'dir/script'), 0o751)
  symlinkSync('dir/script', join(fixture.workspace, 'link'))
  t.match(outputOf(await write(fixture, { path: 'link', content: 'new' })), { path: 'dir/script' })
  t.equal(statSync(join(fixture.workspace, 'dir/script')).mode & 0o7777, 0o751)
  t.equal(readFileSync(join(fixture.workspace, 'link'), 'utf8'), 'new')
  t.same(readdirSync(join(fixture.workspace, 'dir')), ['script'])
  t.same(await write(fixture, { path: 'dir', content: 'x' }), failed('path is not a file'))
})

t.test('RC37 path is required', async t => {
  t.same(await write(createFixture(t), { content: 'x' }), failed('path is required'))
})

t.test('an error of the file system says who can mend it', async t => {
  const fixture = createFixture(t)
  const path = join(fixture.workspace, 'fixed')
  mkdirSync(path)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', path]).status !== 0) {
    t.comment('this user can mount no file system')
    return
  }
  t.teardown(() => { spawnSync('umount', ['-l', path]) })
  t.match(await write(fixture, { path: 'fixed/new', content: 'x', create_if_missing: true }), failed('open failed: EROFS. An operator has mounted it read-only'))
})
