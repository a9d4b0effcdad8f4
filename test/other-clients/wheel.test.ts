import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { withoutPython } from './python.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

t.test('a wheel of the Python client is built with Debian\'s tools, and can be imported where it is installed', { skip: withoutPython }, async t => {
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-wheel-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/wheel.mjs'), dir], { encoding: 'utf8' })
  if (status === 2) {
    t.pass('there is nothing to build it with', { skip: stderr.trim() })
    return
  }
  t.equal(status, 0, stderr)
  const wheel = stdout.trim()
  t.match(wheel, /toolyard-\d+\.\d+\.\d+-py3-none-any\.whl$/)
  t.strictSame(await readdir(join(root, 'clients/python')), ['README.md', 'pyproject.toml', 'toolyard'], 'the checkout is left as it was')
  // A wheel is an archive that Python can import from.
  const seen = spawnSync('python3', ['-c', 'import toolyard, zipfile, sys; print(toolyard.__file__, "toolyard/py.typed" in zipfile.ZipFile(sys.argv[1]).namelist(), toolyard.AsyncToolyard("http://127.0.0.1").jobs is not None)', wheel], {
    encoding: 'utf8', env: { ...process.env, PYTHONPATH: wheel }
  })
  t.equal(seen.stdout.trim(), `${wheel}/toolyard/__init__.py True True`, seen.stderr)
})
