import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createFixture, errorOf, linuxPython, outputOf } from './fixture.ts'

function useTmpdir (t: Test, place: string): void {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = place
  t.teardown(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
}

t.test('a call that finds no place for temporary files fails, and the next one runs when there is a place', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  useTmpdir(t, '/tmp/toolyard-is-not-there')
  for (let times = 0; times < 2; times++) t.equal(errorOf(await fixture.execute('return 1')), 'INTERNAL: the worker cannot start a Python host: ENOENT')
  process.env['TMPDIR'] = '/tmp'
  t.equal(outputOf(await fixture.execute('return 2')), 2)
})

t.test('a temporary directory whose path is too long for a socket is an error that says so, and stays empty', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  const place = join(fixture.workspace, 'x'.repeat(110))
  mkdirSync(place)
  useTmpdir(t, place)
  t.equal(errorOf(await fixture.execute('return 1')), 'INTERNAL: the worker cannot start a Python host: ENAMETOOLONG')
  t.same(readdirSync(place), [])
})
