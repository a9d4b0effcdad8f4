import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFixture } from '../executors/fixture.ts'
import { leavesLoopFree } from './longest-turn.ts'
import { worstTexts } from './worst-texts.ts'

const megabyte = 1_048_576
const same = (length: number): string => 'a'.repeat(length)

/** Changes of the file `f`, by its content: what each may take longest with. */
const changes: Record<string, { content: string, args: Record<string, unknown> }> = {
  'edit with 100 kB of equal letters that are not there': { content: same(megabyte), args: { mode: 'edit', old_text: `b${same(100_000)}`, new_text: '' } },
  'edit with 10 kB of equal letters in 60 kB': { content: same(50_000), args: { mode: 'edit', old_text: `b${same(10_000)}`, new_text: '' } },
  'edit with equal letters that are there everywhere': { content: same(megabyte), args: { mode: 'edit', old_text: same(100_000), new_text: '' } },
  'edit with a break near the end of the text': { content: same(megabyte), args: { mode: 'edit', old_text: `${same(50_000)}b${same(400)}`, new_text: '' } },
  'edit with 10 kB of line feeds in CRLF lines': { content: '\r\n'.repeat(megabyte / 2), args: { mode: 'edit', old_text: `a${'\n'.repeat(10_000)}`, new_text: '' } },
  'edit of 10 MB': { content: same(10 * megabyte), args: { mode: 'edit', old_text: 'aab', new_text: '' } },
  'append to 10 MB': { content: same(10 * megabyte), args: { mode: 'append', content: 'b', dry_run: true } },
  'prepend to letters of three bytes': { content: '中'.repeat(3 * megabyte), args: { mode: 'prepend', content: 'b', dry_run: true } },
  'insert before a line of ten millions': { content: '\n'.repeat(10 * megabyte - 9), args: { mode: 'insert_at', start_line: 5, content: 'b', dry_run: true } },
  'insert among letters of three bytes': { content: '中'.repeat(3 * megabyte), args: { mode: 'insert_at', offset: 5, content: 'b', dry_run: true } },
  'replace lines of a million': { content: '\n'.repeat(megabyte), args: { mode: 'replace_range', start_line: 5, end_line: 900_000, content: 'b', dry_run: true } },
  'diff of short lines': { content: 'a\n'.repeat(megabyte / 2), args: { mode: 'replace', content: 'a\nb\n'.repeat(200_000), dry_run: true } },
  'diff of lines that all differ': { content: 'a\n'.repeat(10_000), args: { mode: 'replace', content: 'b\n'.repeat(10_000), dry_run: true } },
  'diff of few lines that all differ': { content: 'a\n'.repeat(240), args: { mode: 'replace', content: 'b\n'.repeat(240), dry_run: true } },
  'patch whose lines fit nearly everywhere': { content: 'a\n'.repeat(megabyte / 2), args: { mode: 'apply_patch', patch: `@@ -1,30 +1,30 @@\n${' a\n'.repeat(29)}-b\n+c\n`, dry_run: true } },
  'patch whose lines fit nearly everywhere in 60 kB': { content: 'a\n'.repeat(15_000), args: { mode: 'apply_patch', patch: `@@ -1,1001 +1,1001 @@\n${' a\n'.repeat(1_000)}-b\n+c\n`, dry_run: true } },
  'patch of many parts': { content: 'a\n'.repeat(10_000), args: { mode: 'apply_patch', patch: '@@ -1,1 +1,1 @@\n-b\n+c\n'.repeat(900), dry_run: true } },
  'patch of parts that say they end the file': { content: 'a\n'.repeat(200_000), args: { mode: 'apply_patch', patch: '@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n'.repeat(40), dry_run: true } },
  'patch of many files': { content: 'a', args: { mode: 'apply_patch', patch: 'Index: a\n'.repeat(90_000), dry_run: true } },
  'patch with a name of backslashes': { content: 'a', args: { mode: 'apply_patch', patch: `--- "${'\\\\'.repeat(400_000)}\n+++ b\n@@ -1 +1 @@\n-a\n+b\n`, dry_run: true } }
}

t.test('promise 10: no change of a file holds up the event loop, whatever the file and the arguments', async t => {
  const fixture = createFixture(t)
  for (const [what, { content, args }] of Object.entries(changes)) {
    writeFileSync(join(fixture.workspace, 'f'), content)
    await leavesLoopFree(t, what, () => fixture.runBuiltinOnly('data.write_file', { path: 'f', ...args }))
  }
  for (const [what, text] of Object.entries(worstTexts(900_000))) {
    for (const args of [{ mode: 'replace', content: text }, { mode: 'replace', content_base64: text }, { mode: 'apply_patch', patch: text }, { mode: 'edit', old_text: text, new_text: text }]) {
      await leavesLoopFree(t, `${args.mode} with ${what}`, () => fixture.runBuiltinOnly('data.write_file', { path: 'f', ...args }))
    }
  }
})

t.test('promise 10: no part of a file holds up the event loop when it is read', async t => {
  const fixture = createFixture(t)
  for (const [what, text] of Object.entries(worstTexts(megabyte))) {
    writeFileSync(join(fixture.workspace, 'f'), text)
    for (const args of [{}, { max_lines: 1e9 }, { encoding: 'base64' }]) {
      await leavesLoopFree(t, `${what} with ${JSON.stringify(args)}`, () => fixture.runBuiltinOnly('data.file_read', { path: 'f', max_bytes: megabyte, ...args }))
    }
  }
  writeFileSync(join(fixture.workspace, 'f'), Buffer.alloc(megabyte, 0xff))
  await leavesLoopFree(t, 'bytes that are no text', () => fixture.runBuiltinOnly('data.file_read', { path: 'f', max_bytes: megabyte }))
  writeFileSync(join(fixture.workspace, 'f'), Buffer.alloc(20 * megabyte, 0x0a))
  await leavesLoopFree(t, 'the last of many lines', () => fixture.runBuiltinOnly('data.file_read', { path: 'f', start_line: 20 * megabyte - 2 }))
  await leavesLoopFree(t, 'the hash of 20 MB', () => fixture.runBuiltinOnly('workspace.stat', { path: 'f' }))
})

t.test('promise 10: no path and no directory holds up the event loop', async t => {
  const fixture = createFixture(t, { builtins: { workspaceDelete: true } })
  const paths = ['a/../', 'a/', '/', '../', './', 'workspace/', '中/'].map(part => part.repeat(900_000 / part.length))
  for (const path of [...paths, ...Object.values(worstTexts(900_000))]) {
    const what = JSON.stringify(path.slice(0, 12))
    await leavesLoopFree(t, `a file at ${what}`, () => fixture.runBuiltinOnly('data.write_file', { path, content: 'x', create_if_missing: true, mkdir_p: true }))
    await leavesLoopFree(t, `a list of ${what}`, () => fixture.runBuiltinOnly('workspace.list', { path, cursor: path }))
    await leavesLoopFree(t, `a move to ${what}`, () => fixture.runBuiltinOnly('workspace.move', { from: path, to: path, mkdir_p: true }))
  }
  const many = (): void => {
    mkdirSync(join(fixture.workspace, 'many'))
    for (let at = 30_000; at > 0; at--) writeFileSync(join(fixture.workspace, 'many', `file ${at}`), '')
  }
  const deletion = (): Promise<unknown> => fixture.runBuiltinOnly('workspace.delete', { path: 'many', recursive: true })
  await leavesLoopFree(t, 'a deletion of 30,000 files', deletion, many)
  many()
  await leavesLoopFree(t, 'a list of 30,000 files', () => fixture.runBuiltinOnly('workspace.list', { path: 'many', max_results: 1_000 }))
})
