import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runToolyard } from './toolyard.ts'

/** Outside the checkout: the settings of npm and git of the checkout don't count there. */
function directory (t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-init-'))
  t.teardown(() => { rmSync(dir, { recursive: true }) })
  return dir
}

t.test('init writes tools whose test passes and which validate without a remark, and a key that only its owner reads', async t => {
  const dir = directory(t)
  const { status, stdout } = await runToolyard(['init', '--json'], { cwd: dir })
  t.equal(status, 0)
  t.strictSame(JSON.parse(stdout), { ok: true, made: ['tools.json', 'tools/bin/add.mjs', 'tools/bin/count_words.py', 'tools/bin/newest_files.sh', 'tools/test/tools.test.mjs', '.env', '.gitignore'] })
  const [, key = ''] = /^API_KEY=([\w-]{43})\nTOOL_MANIFESTS=tools\.json\nTOOLYARD_API_KEY=\1\n$/.exec(readFileSync(join(dir, '.env'), 'utf8')) ?? []
  t.not(key, '')
  t.notMatch(stdout, key)
  t.equal(statSync(join(dir, '.env')).mode & 0o777, 0o600)
  t.match(readFileSync(join(dir, '.gitignore'), 'utf8'), /^\.env$/m)
  const tests = spawnSync(process.execPath, ['--test', 'tools/test/tools.test.mjs'], { cwd: dir, encoding: 'utf8', env: { PATH: process.env['PATH'] } })
  t.equal(tests.status, 0, tests.stdout)
  t.match(await runToolyard(['validate', '--strict', 'tools.json'], { cwd: dir }), { status: 0, stdout: 'Validated 1 manifest file(s) with no issues.\n' })
})

t.test('init overwrites nothing: it names what is there and writes nothing', async t => {
  const dir = directory(t)
  writeFileSync(join(dir, 'tools.json'), 'mine')
  t.match(await runToolyard(['init'], { cwd: dir }), { status: 1, stderr: 'toolyard init: tools.json is here already. Nothing was written' })
  t.equal(readFileSync(join(dir, 'tools.json'), 'utf8'), 'mine')
  t.notOk(existsSync(join(dir, '.env')))
})

t.test('init keeps an .env with its key, and adds what is missing', async t => {
  const dir = directory(t)
  writeFileSync(join(dir, '.env'), 'API_KEY=my-own-key\nPORT=3900')
  t.equal((await runToolyard(['init'], { cwd: dir })).status, 0)
  t.equal(readFileSync(join(dir, '.env'), 'utf8'), 'API_KEY=my-own-key\nPORT=3900\nTOOL_MANIFESTS=tools.json\nTOOLYARD_API_KEY=my-own-key\n')
  t.equal(statSync(join(dir, '.env')).mode & 0o777, 0o600)
})
