import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { callSample, copyWorkspace, failSample } from './sample-tool.ts'

const oddNames = ['two\nlines', '"quoted" \\ back', '-dash', 'tab\there', 'ärger 🙂', '\u0001']

interface Usage { total_kib: number, entries: number, complete: boolean, largest: Array<{ path: string, kib: number }> }
interface Recent { count: number, files: Array<{ path: string, bytes: number, modified: string }> }

t.test('disk_usage lists what is at the top of the workspace, largest first, with the total', async t => {
  const workspace = await copyWorkspace(t)
  await writeFile(join(workspace, 'big.bin'), Buffer.alloc(300_000, 1))
  const usage = await callSample(t, 'disk_usage', {}, workspace) as unknown as Usage
  t.equal(usage.largest[0]?.path, 'big.bin')
  t.strictSame(usage.largest.map(entry => entry.path).sort(), ['README.md', 'big.bin', 'data', 'docs', 'notes', 'workflows.yaml'])
  t.equal(usage.entries, 6)
  t.equal(usage.complete, true)
  t.equal(usage.total_kib, usage.largest.reduce((sum, entry) => sum + entry.kib, 0))
})

t.test('disk_usage lists as many entries as asked for, and counts all of them', async t => {
  const usage = await callSample(t, 'disk_usage', ' { "limit" : 2 }\n', await copyWorkspace(t)) as unknown as Usage
  t.equal(usage.largest.length, 2)
  t.equal(usage.entries, 5)
})

t.test('disk_usage and recent_files report every name that a file can have', async t => {
  const workspace = await copyWorkspace(t)
  const empty = join(workspace, 'empty')
  await mkdir(empty)
  await Promise.all(oddNames.map(name => writeFile(join(empty, name), name)))
  const usage = await callSample(t, 'disk_usage', {}, empty) as unknown as Usage
  t.strictSame(usage.largest.map(entry => entry.path).sort(), oddNames.toSorted())
  const recent = await callSample(t, 'recent_files', {}, empty) as unknown as Recent
  t.strictSame(recent.files.map(file => file.path).sort(), oddNames.toSorted())
  t.strictSame(recent.files.map(file => file.bytes).sort(), oddNames.map(name => Buffer.byteLength(name)).sort())
})

t.test('disk_usage and recent_files answer for an empty workspace', async t => {
  const empty = t.testdir()
  t.strictSame(await callSample(t, 'disk_usage', {}, empty), { total_kib: 0, entries: 0, complete: true, largest: [] })
  t.strictSame(await callSample(t, 'recent_files', '', empty), { count: 0, files: [] })
})

t.test('recent_files lists the files by their last change, in UTC, hidden ones left out', async t => {
  const workspace = t.testdir({ leap: '12345', sub: { before: '' }, old: '1', '.hidden': { secret: '' }, '.env': '' })
  await utimes(join(workspace, 'leap'), 0, Date.UTC(2024, 1, 29, 12) / 1000)
  await utimes(join(workspace, 'sub/before'), 0, Date.UTC(1999, 11, 31, 23, 59, 59) / 1000)
  await utimes(join(workspace, 'old'), 0, new Date(-1000))
  t.strictSame(await callSample(t, 'recent_files', {}, workspace), {
    count: 3,
    files: [
      { path: 'leap', bytes: 5, modified: '2024-02-29T12:00:00Z' },
      { path: 'sub/before', bytes: 0, modified: '1999-12-31T23:59:59Z' },
      { path: 'old', bytes: 1, modified: '1969-12-31T23:59:59Z' }
    ]
  })
})

t.test('recent_files can be told how many files and how many days', async t => {
  const workspace = t.testdir({ fresh: '', stale: '', other: '' })
  await utimes(join(workspace, 'stale'), 0, Date.now() / 1000 - 5 * 86_400)
  const answer = await callSample(t, 'recent_files', { days: 2, limit: 1 }, workspace) as unknown as Recent
  t.equal(answer.count, 2)
  t.equal(answer.files.length, 1)
})

for (const [stdin, message] of [
  ['{"limit":0}', 'limit must be an integer 1..'],
  ['{"limit":-3}', 'limit must be an integer 1..'],
  ['{"limit":99999999999999999999}', 'limit must be an integer 1..'],
  ['{"surprise":1}', 'unknown argument: surprise'],
  ['{"limit":1 2}', 'arguments must be a JSON object of whole numbers'],
  ['{"limit":"1"}', 'arguments must be a JSON object of whole numbers'],
  ['{"limit":"$(id)"}', 'arguments must be a JSON object of whole numbers'],
  ['{"limit":1}{}', 'arguments must be a JSON object of whole numbers'],
  ['[]', 'arguments must be a JSON object of whole numbers'],
  ['{"limit":1', 'arguments must be a JSON object of whole numbers']
] as const) {
  t.test(`disk_usage and recent_files refuse ${stdin}`, async t => {
    const workspace = await copyWorkspace(t)
    for (const name of ['disk_usage', 'recent_files']) t.match(await failSample(t, name, stdin, workspace), message)
  })
}
