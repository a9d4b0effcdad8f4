import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import type { Outcome } from '@toolyard/executors'
import { createFixture, outputOf, python, toolClass } from './fixture.ts'

const plainWorker = join(import.meta.dirname, 'plain-worker.js')

t.test('X19 a tool sees PATH, HOME and a locale, and nothing else of the environment', python, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('tool.py', toolClass('with open("/proc/self/environ") as file: return [dict(os.environ), file.read() if sys.platform == "linux" else ""]'))
  const tool = { PATH: process.env['PATH'] ?? '', HOME: '/nowhere', LANG: 'C.UTF-8' }
  // Python by itself would set LC_CTYPE, and Node its coverage directory.
  const env = { ...tool, API_KEY: 'secret', REDIS_URL: 'redis://secret', LC_ALL: 'C', PYTHONPATH: '/x', PYTHONSTARTUP: '/x', NODE_V8_COVERAGE: t.testdirName }
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const printed = execFileSync('/usr/bin/env', ['-i', ...variables, process.execPath, plainWorker, fixture.workspace, JSON.stringify(fixture.tool().run)], { encoding: 'utf8' })
  const [outcome] = JSON.parse(printed) as [Outcome]
  const [variablesOfTool, atStart] = outputOf(outcome) as [Record<string, string>, string]
  t.same(variablesOfTool, tool)
  if (process.platform === 'linux') t.same(atStart.split('\0').filter(line => line !== '').sort(), Object.entries(tool).map(([name, value]) => `${name}=${value}`).sort())
  t.end()
})

t.test('the error of a tool that misses a variable says that Python tools get none, and where to put the value', python, async t => {
  const fixture = await createFixture(t, { open: true, env: { ...process.env, CITY_TOKEN: 'hidden' } })
  t.same(await fixture.execute('return os.environ["CITY_TOKEN"]'), {
    ok: false,
    error: { code: 'TOOL_FAILED', message: 'KeyError: \'CITY_TOKEN\'', details: { type: 'KeyError', hint: 'If CITY_TOKEN is an environment variable: tools of this kind get none but PATH, HOME and LANG. Give it as a parameter or in "config".' } }
  })
})
