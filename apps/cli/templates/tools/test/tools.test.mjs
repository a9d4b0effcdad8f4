// Runs each tool as Toolyard does, by itself: node --test tools/test/tools.test.mjs
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { tools } = JSON.parse(readFileSync(join(root, 'tools.json'), 'utf8'))
const workspace = mkdtempSync(join(tmpdir(), 'tools-'))
writeFileSync(join(workspace, 'note.txt'), 'four words and more\n')
after(() => rmSync(workspace, { recursive: true }))
const noPython = spawnSync('python3', ['--version']).error ? 'python3 is not installed' : false

function run (name, args) {
  const [program, ...rest] = tools.find(tool => tool.name === name).command
  const { status, stdout, stderr } = spawnSync(join(root, program), rest, { cwd: workspace, input: JSON.stringify(args), encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('newest_files lists the workspace', () => {
  assert.equal(run('newest_files', {}).stdout, 'note.txt\n')
})

test('add adds', () => {
  assert.deepEqual(JSON.parse(run('add', { a: 2, b: 3 }).stdout), { sum: 5 })
})

test('count_words counts, and says when there is no such file', { skip: noPython }, () => {
  assert.deepEqual(JSON.parse(run('count_words', { path: 'note.txt' }).stdout), { words: 4 })
  const { status, stderr } = run('count_words', { path: 'missing.txt' })
  assert.equal(status, 1)
  assert.match(JSON.parse(stderr).error, /missing\.txt: No such file/)
})
