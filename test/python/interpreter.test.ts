import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFixture, errorOf, outputOf, python, toolClass } from './fixture.ts'

t.test('without a Python on the PATH a tool is unavailable, and the audit says so', python, async t => {
  const fixture = await createFixture(t, { env: { PATH: t.testdir(), HOME: '/' } })
  t.equal(errorOf(await fixture.execute('return 1')), 'TOOL_UNAVAILABLE: python3 is not installed')
  t.match(await fixture.auditLines(), [{ argv: ['python3', 'body_0'], exit: -1, error: 'python3 is not installed' }])
})

t.test('a Python that is too old is skipped, and named when there is no other', python, async t => {
  const bin = join(t.testdir(), 'workspace')
  const fixture = await createFixture(t, { env: { PATH: bin, HOME: '/' } })
  writeFileSync(join(bin, 'python3'), '#!/bin/sh\necho \'["/old/python3", 3, 8]\'\n', { mode: 0o755 })
  t.equal(errorOf(await fixture.execute('return 1')), 'TOOL_UNAVAILABLE: python3 is 3.8, but tools need 3.9 or later')
})

t.test('a Python that was installed in the meantime is found, also under the name python', python, async t => {
  const bin = join(t.testdir(), 'workspace')
  const fixture = await createFixture(t, { env: { PATH: bin, HOME: process.env['HOME'] } })
  fixture.source('tool.py', toolClass('return sys.version_info[0]'))
  t.match(errorOf(await fixture.run()), /^TOOL_UNAVAILABLE/)
  symlinkSync(execFileSync('python3', ['-c', 'import sys; print(sys.executable, end="")'], { encoding: 'utf8' }), join(bin, 'python'))
  t.equal(outputOf(await fixture.run()), 3)
})

t.test('a root of any name is served, and a missing root only makes the import fail', python, async t => {
  const fixture = await createFixture(t)
  const odd = join(fixture.root, "it's an $ODD; root ü\n-x")
  mkdirSync(odd)
  writeFileSync(join(odd, 'tool.py'), 'from toolyard import Tool\n' + toolClass('return 1'))
  t.equal(outputOf(await fixture.run({ root: odd })), 1)
  const absent = join(fixture.root, 'absent')
  t.match(errorOf(await fixture.run({ root: absent })), /^TOOL_UNAVAILABLE: module 'tool' does not import: ModuleNotFoundError/)
  t.notOk(existsSync(absent))
})
