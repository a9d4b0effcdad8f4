import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { emptyDirectory, freePort, packTarballs } from './installation.ts'

const installSeconds = 60
const mostMegabytes = 100

const here = emptyDirectory()
t.teardown(() => here.remove())
const tarballs = packTarballs(join(here.directory, '../tarballs'))
let installedAt = 0

await t.test('the tarballs install into an empty directory without a warning and below 100 MB', async t => {
  const { status, stdout, stderr } = here.shell(`npm install --no-audit --no-fund ${tarballs.join(' ')}`)
  installedAt = performance.now()
  t.equal(status, 0)
  t.equal(stderr, '')
  t.notMatch(stdout, /warn|deprecated|vulnerab/i)
  const size = Number(spawnSync('du', ['-sm', 'node_modules'], { cwd: here.directory, encoding: 'utf8' }).stdout.split('\t')[0])
  t.ok(size > 0 && size < mostMegabytes, `${size} MB`)
  t.comment(`node_modules: ${size} MB`)
})

await t.test('toolyard start in an empty directory serves the bundled samples, within a minute of the install', async t => {
  const port = await freePort()
  const service = here.serve('./node_modules/.bin/toolyard start', { PORT: port, TOOLYARD_NO_INSTALL: '1' })
  await waitFor('the greeting', () => service.output().includes('Ctrl-C stops everything') || service.ended(), 60_000)
  t.match(service.output(), `Toolyard is ready at http://127.0.0.1:${port}`)
  t.equal(statSync(join(here.directory, '.env')).mode & 0o777, 0o600)
  const key = readFileSync(join(here.directory, '.env'), 'utf8').match(/^API_KEY=(.+)$/m)?.[1] ?? ''
  const calls = [['get_time', { timezone: 'Europe/Helsinki' }], ['word_count', { path: 'README.md' }], ['data_file_read', { path: 'README.md' }], ['csv_summary', { path: 'data/readings.csv' }], ['git_status', {}]]
  const answer = await fetch(`http://127.0.0.1:${port}/v1/agent-tools/invoke-batch`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ calls: calls.map(([name, args], index) => ({ call_id: String(index), name, arguments: args })) })
  })
  const { results } = await answer.json() as { results: Array<{ ok: boolean, name: string, error?: { code: string } }> }
  t.ok(performance.now() - installedAt < installSeconds * 1_000, 'and quickly enough')
  t.comment(`answered ${Math.round((performance.now() - installedAt) / 100) / 10} s after the install`)
  for (const { name, ok } of results.slice(0, 4)) t.ok(ok, name)
  t.not(results[4]?.error?.code, 'TOOL_UNAVAILABLE', 'the host of Python tools is in the package')
  await service.stop()
})
