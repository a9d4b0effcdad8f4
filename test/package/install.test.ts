import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { waitFor } from '../support/condition.ts'
import { followed, snippetsOf } from '../support/page-commands.ts'
import { freePort } from '../support/redis-process.ts'
import { emptyDirectory, packTarballs, type Ended, type Installation, type Served } from './installation.ts'
import { startModel } from './model-server.ts'

const installSeconds = 60
const mostMegabytes = 100

const here = emptyDirectory()
t.teardown(() => here.remove())
const tarballs = packTarballs(join(here.directory, '../tarballs'))
const env = { TOOLYARD_NO_INSTALL: '1' }

/** The README, block by block, in the order in which a reader meets them: command lines, and files that are written. */
const blocks = snippetsOf('README.md')

async function greeting (service: Served): Promise<void> {
  await waitFor('the greeting', () => service.output().includes('Ctrl-C stops everything') || service.ended(), 60_000)
}

await t.test("every command and file of the README works, and a tool of one's own answers within a minute of the install", async t => {
  const model = await startModel()
  t.teardown(() => { model.close() })
  const port = String(await freePort())
  const more = { ...env, PORT: port, TOOLYARD_URL: `http://127.0.0.1:${port}`, OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'none' }
  let installed = 0
  const follow = async (line: string): Promise<void> => {
    if (line.endsWith('toolyard start')) {
      await greeting(here.serve(line, more))
      return
    }
    // The README says that a change is served within a second, and a machine may be slower than a reader is.
    if (line.includes(' call greet ')) await waitFor('greet is served', async () => (await runLine(here, 'npx toolyard tools', more)).stdout.includes('greet'), 20_000)
    const { status, stdout, stderr } = await runLine(here, line, more)
    t.equal(status, 0, `${line}${status === 0 ? '' : `: ${stdout}${stderr}`}`)
    if (line.startsWith('npm install')) {
      installed = performance.now()
      t.equal(stderr, '')
      t.notMatch(stdout, /warn|deprecated/i)
    }
    if (line.includes(' call add ')) {
      t.strictSame(JSON.parse(stdout), { sum: 5 })
      const seconds = Math.round((performance.now() - installed) / 1_000)
      t.ok(seconds < installSeconds, `the first call was answered ${seconds} s after the install`)
    }
    if (line.includes(' call greet ')) t.match(stdout, 'Good morning, Ada!')
    if (line.includes('agent.mjs')) t.match(stdout, /^the tools said .*Good morning, Ada!/)
  }
  for (const snippet of blocks) {
    const path = join(here.directory, snippet.file ?? '')
    if (snippet.file !== undefined) writeFileSync(path, followed(snippet, () => readFileSync(path, 'utf8')))
    // For a clone: these tests are a part of it, its start has tests of its own, and the tarballs are made.
    else if (!/^npm (?:start|test|run pack)\n$/.test(snippet.text)) for (const line of snippet.text.trim().split('\n')) await follow(line)
  }
  t.equal(model.requests.length, 2)
  t.equal(here.shell('node --test tools/test/tools.test.mjs').status, 0, 'the tools of init are still there')
})

await t.test('the schemas for editors are where docs/tools.md says', async t => {
  const [, file = ''] = /"\$schema": "([^"]+)"/.exec(readFileSync(join(repoRoot, 'docs/tools.md'), 'utf8')) ?? []
  for (const name of ['agentcli.json', 'tool-manifest.json', 'skill.json']) {
    t.ok(existsSync(join(here.directory, file.replace('agentcli.json', name))), name)
  }
})

await t.test('the package is below 100 MB with all that it needs', async t => {
  const size = Number(spawnSync('du', ['-sm', 'node_modules/toolyard'], { cwd: here.directory, encoding: 'utf8' }).stdout.split('\t')[0])
  t.ok(size > 0 && size < mostMegabytes, `${size} MB`)
})

await t.test('the pages that messages name are in the package, so that no network is needed to read them', async t => {
  const told = here.shell('npx toolyard explain A31').stdout
  const page = /^All rules: (.*)$/m.exec(told)?.[1] ?? ''
  t.match(page, /node_modules\/toolyard\/docs\/conformance\.md$/)
  t.match(readFileSync(page, 'utf8'), '| A31 |')
  for (const file of ['README.md', 'docs/errors.md', 'docs/security.md', 'examples/openai-chat.mjs']) {
    t.equal(readFileSync(join(here.directory, 'node_modules/toolyard', file), 'utf8'), readFileSync(join(repoRoot, file), 'utf8'), file)
  }
})

await t.test('toolyard start in an empty directory serves the bundled samples of all formats', async t => {
  const empty = join(here.directory, 'empty')
  mkdirSync(empty)
  const port = String(await freePort())
  const service = here.serve('node ../node_modules/toolyard/bin/toolyard.js start', { ...env, PORT: port }, empty)
  await greeting(service)
  t.match(service.output(), `Toolyard is ready at http://127.0.0.1:${port}`)
  t.match(service.output(), /Tools +\d+ from 3 manifests/)
  t.equal(statSync(join(empty, '.env')).mode & 0o777, 0o600)
  const calls = [['get_time', { timezone: 'Europe/Helsinki' }], ['word_count', { path: 'README.md' }], ['data_file_read', { path: 'README.md' }], ['csv_summary', { path: 'data/readings.csv' }], ['git_status', {}]]
  writeFileSync(join(empty, 'batch.json'), JSON.stringify({ calls: calls.map(([name, args], index) => ({ call_id: String(index), name, arguments: args })) }))
  const { results } = JSON.parse(here.shell('cd empty && npx toolyard batch batch.json', { PORT: port }).stdout) as { results: Array<{ ok: boolean, name: string, error?: { code: string } }> }
  for (const { name, ok } of results.slice(0, 4)) t.ok(ok, name)
  t.not(results[4]?.error?.code, 'TOOL_UNAVAILABLE', 'the host of Python tools is in the package')
  await service.stop()
})

/** Other tarballs than those in the clone's directory: that alone differs from what a reader does. */
async function runLine (at: Installation, line: string, more: NodeJS.ProcessEnv): Promise<Ended> {
  return await at.run(line.replace('"$CLONE"/packed/*.tgz', tarballs.join(' ')), more)
}
