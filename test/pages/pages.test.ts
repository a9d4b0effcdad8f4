import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { withoutPython } from '../other-clients/python.ts'
import { startModelServer } from '../examples/model-server.ts'
import { repoRoot } from '../repo/source-tree.ts'
import { snippetsOf, type Snippet } from '../support/page-commands.ts'
import { notRun, ownTests } from './not-run.ts'
import { startReader } from './reader.ts'

t.setTimeout(450_000)

const read = (path: string): string => readFileSync(join(repoRoot, path), 'utf8')
const pages = ['README.md', ...readdirSync(join(repoRoot, 'docs'), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.md')).map(name => `docs/${name}`)]
  .filter(page => !/^docs\/(?:decisions|reference)\//.test(page)).sort()

/** The output of a block, by its page and a part of its text; where nothing stands here, ending with 0 is enough. */
const printed: ReadonlyArray<readonly [page: string, part: string, output: RegExp]> = [
  ['docs/start.md', 'call roll_dice', /"sum": *\d+/],
  ['docs/start.md', 'agent.mjs', /^All is said\.$/m],
  ['docs/start.md', 'jobs list', /roll_dice/],
  ['docs/tools.md', '--explain add tools.json\n', /tools\.json/],
  ['docs/tools.md', '--explain add tools.json local.json', /local\.json/],
  ['docs/command-tools.md', 'call first_lines --arg path=README.md', /# Hilltop weather stations[^]*"seconds": *\d+/],
  ['docs/command-tools.md', 'missing.txt', /exit status 1/],
  ['docs/python-tools.md', 'jobs logs', /\d+ words in README\.md/],
  ['docs/python-tools.md', 'missing.txt', /exit status 1/],
  ['docs/skills.md', 'call date_of', /Saturday, 21 November 2026/],
  ['docs/skills.md', 'call lines_first', /Hilltop weather stations/],
  ['docs/skills.md', '/v1/skills', /never guess what day it is/],
  ['docs/batches.md', 'no-such-file.txt', /Hilltop.*notes\/radio-test\.txt.*total_kib.*"files".*"code":"TOOL_FAILED"/s],
  ['docs/batches.md', '"mode": "async"', /"job_id"/],
  ['docs/jobs.md', 'idempotency-key', /"tags":\["report"\].*cancelled/s],
  ['docs/jobs.md', 'workflow_run', /"report":"report\.md"/],
  ['docs/approvals.md', 'invoke-batch', /"HELD".*"POLICY_DENIED"/s],
  ['docs/approvals.md', 'approvals approve', /approved/],
  ['docs/approvals.md', 'policy test', /pay +hold/],
  ['docs/jobs.md', '/stream', /event: end/],
  ['docs/callbacks.md', 'callback_url', /"callback_url":"https:\/\/hooks\.example\.com\/toolyard"/],
  ['docs/files.md', 'archive=tar', /"archive":\{"path":"in","files":1.*data\.csv/s],
  ['docs/files.md', "printf 'day", /"sha256".*"entries".*data\.csv/s],
  ['docs/sessions.md', '/v1/sessions', /"id":/],
  ['docs/tenants.md', 'keys add', /acme-app/],
  ['docs/operations.md', '/v1/workers', /"workers".*"minutes"/s]
]

const missing = ['curl', 'python3'].find(program => spawnSync(program, ['--version']).error !== undefined)
const skip = missing === undefined ? withoutPython : `no ${missing} here`

await t.test('every code block of every page is run here or by another test, or has a reason not to', async t => {
  for (const [page, test] of Object.entries(ownTests)) t.match(read(test), page.replace(/^docs\//, ''), `${test} reads ${page}`)
  for (const [page, begins] of notRun) t.ok(snippetsOf(page).some(({ text }) => text.startsWith(begins)), `${page} has a block that begins with ${begins}`)
  for (const [page, part] of printed) t.ok(snippetsOf(page).some(({ text }) => text.includes(part)), `${page} has a block with ${part}`)
})

await t.test('a page whose examples need an address, a key, a program or a mode tells the reader how to get them', async t => {
  const preparation = 'start.md#the-examples-of-the-other-pages'
  t.match(read('docs/start.md'), /^## The examples of the other pages$/m)
  for (const page of pages) {
    const snippets = snippetsOf(page)
    const commands = snippets.filter(({ language, file }) => language === 'sh' && file === undefined)
    if (page !== 'docs/start.md' && commands.some(({ text }) => /\$TOOLYARD_(?:URL|API_KEY)/.test(text))) t.ok(read(page).includes(preparation), `${page} links to ${preparation}`)
    // Its examples are lines of a profile, for a toolyard on the PATH.
    if (page !== 'docs/command-line.md') t.strictSame(commands.filter(({ text }) => /^\s*toolyard /m.test(text)).map(({ line }) => line), [], `${page} runs toolyard by npx`)
    for (const { file } of snippets.filter(snippet => snippet.file?.startsWith('tools/bin/'))) {
      t.ok(commands.some(({ text }) => text.split('\n').some(line => line.startsWith('chmod +x ') && line.split(' ').includes(file ?? ''))), `${page} makes ${file} a program`)
    }
  }
})

await t.test('data that a page shows is valid JSON or YAML', async t => {
  let count = 0
  for (const page of pages) {
    for (const [, language, text = ''] of read(page).matchAll(/^```(json|yaml)\b[^\n]*\n([^]*?)^```$/gm)) {
      count++
      t.doesNotThrow(() => { language === 'json' ? JSON.parse(text) : parse(text) }, `${page}: ${text.split('\n')[0]}`)
    }
  }
  t.ok(count > 15, 'they were found')
})

await t.test('a reader who follows the pages, block by block, gets the results that they show', { skip, timeout: 450_000 }, async t => {
  const model = await startModelServer(t, answers => answers.length === 0 ? { calls: [{ id: 'call_1', name: 'data_file_read', args: { path: 'README.md' } }] } : { text: 'All is said.' })
  const reader = await startReader(t, model.address)
  for (const page of pages.filter(each => !Object.hasOwn(ownTests, each))) {
    await reader.begin()
    for (const snippet of snippetsOf(page)) {
      const reason = notRun.find(([on, begins]) => on === page && snippet.text.startsWith(begins))?.[2]
      if (reason !== undefined) {
        t.comment(`not run: ${page}:${snippet.line}: ${reason}`)
        continue
      }
      const { status, output } = await reader.follow(snippet)
      t.equal(status, 0, `${page}:${snippet.line} ${snippet.file ?? firstLine(snippet)}${status === 0 ? '' : `: ${output}`}`)
      for (const [on, part, expected] of printed) if (on === page && snippet.text.includes(part)) t.match(output, expected, `${page}:${snippet.line} prints it`)
    }
  }
  t.strictSame(model.faults, [])
})

function firstLine ({ text }: Snippet): string {
  return text.split('\n')[0] ?? ''
}
