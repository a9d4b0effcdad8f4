import { execFileSync } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { callSample, copyWorkspace, failSample, withoutPython } from './sample-tool.ts'

const readers: Array<{ name: string, skip: string | false, args: (path: string) => object, missing: string }> = [
  { name: 'word_count', skip: false, args: path => ({ path }), missing: 'path is required' },
  { name: 'json_query', skip: false, args: path => ({ path, query: '$' }), missing: 'path is required' },
  { name: 'file_hash', skip: false, args: path => ({ path }), missing: 'path is required' },
  { name: 'csv_summary', skip: withoutPython, args: path => ({ path }), missing: 'path is required' },
  { name: 'text_diff', skip: withoutPython, args: path => ({ old_path: path, new_path: 'README.md' }), missing: 'old_path is required' }
]

for (const { name, skip, args, missing } of readers) {
  t.test(`${name} reads no file outside the workspace`, { skip }, async t => {
    const workspace = await copyWorkspace(t)
    await writeFile(join(workspace, '../outside.txt'), 'outside')
    await symlink('../outside.txt', join(workspace, 'link.txt'))
    await symlink('..', join(workspace, 'up'))
    for (const path of ['../outside.txt', '../nothing.txt', 'data/../../outside.txt', join(workspace, '../outside.txt'), 'link.txt', 'up/outside.txt', '/', '..']) {
      t.equal(await failSample(t, name, args(path), workspace), `path escapes workspace root: ${path}`)
    }
  })

  t.test(`${name} says what is wrong with a path in the workspace`, { skip }, async t => {
    const workspace = await copyWorkspace(t)
    execFileSync('mkfifo', [join(workspace, 'pipe')])
    t.equal(await failSample(t, name, args('nothing.txt'), workspace), 'file not found: nothing.txt')
    t.equal(await failSample(t, name, args('README.md/below'), workspace), 'file not found: README.md/below')
    t.equal(await failSample(t, name, args('data'), workspace), 'path is not a file: data')
    t.equal(await failSample(t, name, args('pipe'), workspace), 'path is not a file: pipe')
    t.equal(await failSample(t, name, args('a\0b'), workspace), missing)
    t.equal(await failSample(t, name, args(' '), workspace), missing)
  })

  t.test(`${name} refuses what is not a JSON object`, { skip }, async t => {
    const workspace = await copyWorkspace(t)
    for (const stdin of ['[]', 'null', '"text"', '{"path":', '\u0000']) {
      t.equal(await failSample(t, name, stdin, workspace), 'arguments must be a JSON object')
    }
  })
}

t.test('a link to a file of the workspace is followed, and a name may start with two dots', async t => {
  const workspace = await copyWorkspace(t)
  await symlink('README.md', join(workspace, 'link.md'))
  await writeFile(join(workspace, '..notes'), 'two words')
  t.equal((await callSample(t, 'file_hash', { path: 'link.md' }, workspace))['hash'], (await callSample(t, 'file_hash', { path: 'README.md' }, workspace))['hash'])
  t.equal((await callSample(t, 'word_count', { path: '..notes' }, workspace))['words'], 2)
  t.equal((await callSample(t, 'word_count', { path: join(workspace, '..notes') }, workspace))['words'], 2)
})
