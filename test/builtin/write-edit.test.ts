import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Outcome } from '@toolyard/executors'
import { createFixture, type Fixture } from '../executors/fixture.ts'

/** Changes a file that holds `before`; the error's message, or what the file holds then. */
async function change (fixture: Fixture, before: string, args: Record<string, unknown>): Promise<string> {
  writeFileSync(join(fixture.workspace, 'file'), before)
  const outcome: Outcome = await fixture.runBuiltin('data.write_file', { path: 'file', ...args })
  const after = readFileSync(join(fixture.workspace, 'file'), 'utf8')
  if (outcome.ok) return after
  if (after !== before) throw new Error('a failed change changed the file')
  return `error: ${outcome.error.message}`
}

t.test('RC37 edit replaces a text that occurs once, literally', async t => {
  const fixture = createFixture(t)
  const edit = async (before: string, oldText: string, newText: string): Promise<string> => await change(fixture, before, { mode: 'edit', old_text: oldText, new_text: newText })
  t.equal(await edit('let a = 1\nlet b = 2\n', 'b = 2', 'b = $& $1'), 'let a = 1\nlet b = $& $1\n')
  t.equal(await edit('keep drop', ' drop', ''), 'keep')
  t.equal(await edit('a\r\nb\r\nc', 'a\nb', 'x\ny'), 'x\r\ny\r\nc', 'line ends are those of the file')
  t.match(await edit('a', 'b', 'c'), /^error: input.old_text was not found in the file/)
  t.match(await edit('a a', 'a', 'c'), /^error: input.old_text occurs 2 times/)
  t.match(await edit('aaa', 'aa', 'c'), /^error: input.old_text occurs 2 times/)
  t.equal(await edit('a', '', 'c'), 'error: input.old_text must not be empty')
  t.equal(await change(fixture, 'a', { mode: 'edit', old_text: 'a' }), "error: mode 'edit' requires input.new_text")
})

t.test('RC37 apply_patch applies a unified diff, also where lines have moved', async t => {
  const fixture = createFixture(t)
  const patch = '--- a/file\n+++ b/file\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n'
  const apply = async (before: string, text: string): Promise<string> => await change(fixture, before, { mode: 'apply_patch', patch: text })
  t.equal(await apply('one\ntwo\nthree\n', patch), 'one\nTWO\nthree\n')
  t.equal(await apply('new\nlines\none\ntwo\nthree\n', patch), 'new\nlines\none\nTWO\nthree\n')
  t.equal(await apply('one\r\ntwo\r\nthree\r\n', patch), 'one\r\nTWO\r\nthree\r\n')
  t.equal(await apply('one\ntwo\nthree\n', patch.trimEnd()), 'one\nTWO\nthree\n', 'the last line end may be missing')
  const last = '@@ -1,1 +1,1 @@\n-uno\n+one\n\\ No newline at end of file\n'
  t.match(await apply('uno\ntwo\n3\n', last), /^error: the patch does not fit the file/, 'the line is not the last one')
  t.equal(await apply('uno\n', last), 'one')
  t.equal(await apply('uno', '@@ -1,1 +1,1 @@\n-uno\n\\ No newline at end of file\n+one\n'), 'one\n')
  t.equal(await apply('a\r\nuno', '@@ -1,2 +1,2 @@\n a\n-uno\n\\ No newline at end of file\n+one\n\\ No newline at end of file\n'), 'a\r\none')
  t.match(await apply('one\n2\nthree\n', patch), /^error: the patch does not fit the file/)
  t.match(await apply('x', 'just text'), /^error: input.patch has no hunk/)
  t.match(await apply('one\ntwo\nthree\n', patch + patch.replaceAll('file', 'other')), /^error: input.patch changes 2 files/)
  t.match(await apply('x', '@@ -1,9 +1 @@\n-x\n+b\n'), /^error: input.patch is not a unified diff/)
})

t.test('RC37 a patch that would take too long is refused', async t => {
  const fixture = createFixture(t)
  const lines = 'same\n'.repeat(50_000)
  const patch = `@@ -1,1000 +1,1001 @@\n${' same\n'.repeat(1_000)}+new\n`
  t.match(await change(fixture, lines, { mode: 'apply_patch', patch }), /^error: the patch is too large for a file of this size/)
})
