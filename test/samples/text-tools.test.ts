import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { callSample, copyWorkspace, failSample, withoutPython } from './sample-tool.ts'

t.test('word_count counts a text in words, lines, characters and bytes', async t => {
  const counts = await callSample(t, 'word_count', { text: "Don't panic 🙂, naïve friend\nDON'T" }, await copyWorkspace(t))
  t.strictSame(counts, { words: 5, lines: 2, characters: 33, bytes: 37 })
})

t.test('word_count counts a file, and lists its most frequent words', async t => {
  const counts = await callSample(t, 'word_count', { path: 'docs/setup-2024.txt', top: 2 }, await copyWorkspace(t))
  t.strictSame(counts, {
    path: 'docs/setup-2024.txt',
    words: 58,
    lines: 7,
    characters: 289,
    bytes: 289,
    top_words: [{ word: 'the', count: 7 }, { word: 'at', count: 3 }]
  })
})

t.test('word_count finds nothing in an empty text', async t => {
  t.strictSame(await callSample(t, 'word_count', { text: '' }, await copyWorkspace(t)), { words: 0, lines: 0, characters: 0, bytes: 0 })
})

t.test('word_count needs either a text or a path', async t => {
  const workspace = await copyWorkspace(t)
  t.equal(await failSample(t, 'word_count', {}, workspace), 'give either text or path')
  t.equal(await failSample(t, 'word_count', { text: 'a', path: 'README.md' }, workspace), 'give either text or path')
  t.equal(await failSample(t, 'word_count', { text: 'a', top: 101 }, workspace), 'top must be an integer 0..100')
})

t.test('word_count refuses a file that is not text', async t => {
  const workspace = await copyWorkspace(t)
  await writeFile(join(workspace, 'image.bin'), Buffer.from([0x89, 0xff, 0xfe]))
  t.equal(await failSample(t, 'word_count', { path: 'image.bin' }, workspace), 'file is not UTF-8 text: image.bin')
})

t.test('text_diff shows what was added and removed', { skip: withoutPython }, async t => {
  const change = await callSample(t, 'text_diff', { old_path: 'docs/setup-2024.txt', new_path: 'docs/setup-2026.txt', context: 0 }, await copyWorkspace(t))
  t.match(change, { identical: false, added: 3, removed: 2 })
  t.match(change['diff'], /^--- docs\/setup-2024\.txt\n\+\+\+ docs\/setup-2026\.txt\n@@ -6,2 \+6,3 @@\n-4\. Connect the battery last\.\n/)
})

t.test('text_diff reports files that differ only in their line ends', { skip: withoutPython }, async t => {
  const workspace = await copyWorkspace(t)
  await writeFile(join(workspace, 'unix.txt'), 'a\nb\n')
  await writeFile(join(workspace, 'dos.txt'), 'a\r\nb\r\n')
  t.match(await callSample(t, 'text_diff', { old_path: 'unix.txt', new_path: 'dos.txt' }, workspace), { identical: false, added: 2, removed: 2 })
  t.strictSame(await callSample(t, 'text_diff', { old_path: 'unix.txt', new_path: 'unix.txt' }, workspace), { identical: true, added: 0, removed: 0, diff: '' })
})

t.test('text_diff names the argument that is wrong', { skip: withoutPython }, async t => {
  const workspace = await copyWorkspace(t)
  t.equal(await failSample(t, 'text_diff', { old_path: 'README.md' }, workspace), 'new_path is required')
  t.equal(await failSample(t, 'text_diff', { old_path: 'README.md', new_path: 'README.md', context: true }, workspace), 'context must be an integer 0..20')
  await writeFile(join(workspace, 'image.bin'), Buffer.from([0x89, 0xff, 0xfe]))
  t.equal(await failSample(t, 'text_diff', { old_path: 'README.md', new_path: 'image.bin' }, workspace), 'file is not UTF-8 text: image.bin')
})
