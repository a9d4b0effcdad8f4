import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { readReport } from '../bench/frame/report-file.ts'
import { stages } from '../bench/stages.ts'

const program = fileURLToPath(new URL('../bench/main.js', import.meta.url))
const { PATH, HOME, TOOLYARD_TEST_PROGRAMS } = process.env

t.setTimeout(900_000)

void t.test('a quick run of the bench measures every row, and writes what it has printed; it compares itself with that', async t => {
  t.setTimeout(900_000)
  const json = join(t.testdir(), 'bench.json')
  const run = async (...args: string[]): Promise<string> => (await promisify(execFile)(process.execPath, [program, '--quick', '--json', json, ...args], { env: { PATH, HOME, TOOLYARD_TEST_PROGRAMS } })).stdout
  const table = await run()
  const { results } = readReport(json)
  t.same(results.map(({ name }) => name), Object.values(stages).flatMap(stage => Object.keys(stage.rows)))
  for (const { name, verdict, reason = '', subjectMiddle } of results) {
    t.match(table, new RegExp(`^\\| \`${name}\` `, 'm'))
    t.ok(verdict === 'unable' ? reason !== '' : Number.isFinite(subjectMiddle?.median), `${name} has a number: ${verdict} ${reason}`)
  }
  t.match(await run('--only', 'tools-load', '--compare', json), /Beside .*\n\n.*\n.*\n\| `tools-load` /)
})
