import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { callErrors } from '@toolyard/contract'
import { withoutBox } from '../sandbox/boxed-tools.ts'
import { createCommandFixture } from './command-fixture.ts'
import { createFixture, type Fixture } from './fixture.ts'

const isRoot = process.getuid?.() === 0

function unavailable (program: string, cause: string): object {
  return { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: `program ${JSON.stringify(program)} cannot be started: ${cause}` } }
}

/** Programs that can't be started, by their cause. */
const programs: Record<string, (fixture: Fixture) => string> = {
  'no such file': fixture => join(fixture.workspace, 'missing'),
  'it is a directory': fixture => fixture.workspace,
  'it is not executable: chmod +x mends that': fixture => fixture.program('plain', '#!/bin/sh\n', 0o644),
  'it is neither a binary nor a script with a #! line': fixture => fixture.program('text', 'touch shell-ran\n'),
  'a byte order mark stands before its #! line, so the kernel takes it for no script; save it as UTF-8 without one': fixture => fixture.program('marked', '\ufeff#!/bin/sh\n'),
  'its interpreter "/no/such/interpreter" is missing': fixture => fixture.program('script', '#!/no/such/interpreter\n'),
  'its lines end in CR LF, as on Windows, so the kernel looks for an interpreter whose name ends in CR; save it with LF alone': fixture => fixture.program('windows', '#!/bin/sh\r\necho hello\r\n'),
  'its path, an argument or a variable holds a NUL byte': fixture => `${fixture.workspace}/a\0b`,
  'its path is too long': () => `/${'x'.repeat(5_000)}`,
  'too many symbolic links': fixture => {
    symlinkSync('loop', join(fixture.workspace, 'loop'))
    return join(fixture.workspace, 'loop')
  }
}

for (const [cause, make] of Object.entries(programs)) {
  t.test(`fault 5 a program that cannot be started is TOOL_UNAVAILABLE: ${cause}`, async t => {
    const fixture = await createCommandFixture(t)
    const program = make(fixture)
    t.same(await fixture.run({ program, startable: false }), unavailable(program, cause))
    t.match(await fixture.auditLines(), [{ exit: -1, argv: [program], error: cause }])
  })
}

t.test('fault 5 a script whose interpreter env does not find is TOOL_UNAVAILABLE', async t => {
  const fixture = await createCommandFixture(t)
  const absent = fixture.program('absent', '#!/usr/bin/env no-such-interpreter\n')
  t.same(await fixture.run({ program: absent }), unavailable(absent, 'its interpreter "no-such-interpreter" is not on the PATH'))
  const split = fixture.program('split', '#!/usr/bin/env -S no-such-interpreter --strict\n')
  t.same(await fixture.run({ program: split }), unavailable(split, 'its interpreter "no-such-interpreter" is not on the PATH'))
  const windows = fixture.program('windows', '#!/usr/bin/env sh\r\necho hello\r\n')
  t.same(await fixture.run({ program: windows }), unavailable(windows, 'its lines end in CR LF, as on Windows, so the kernel looks for an interpreter whose name ends in CR; save it with LF alone'))
  const own = fixture.shell('own', 'env no-such-program')
  t.match(await fixture.run({ program: own }), { error: { code: 'TOOL_FAILED' } }, 'what a script starts itself is its own matter')
})

t.test('fault 5 an empty file is not a program, and no shell is tried (A42)', async t => {
  const fixture = await createCommandFixture(t)
  const program = fixture.program('empty', '')
  t.same(await fixture.run({ program, startable: false }), unavailable(program, 'it is neither a binary nor a script with a #! line'))
})

t.test('fault 5 a program that is executable but not readable is run', { skip: isRoot ? 'root reads everything' : false }, async t => {
  const fixture = await createCommandFixture(t)
  const program = fixture.program('secret', '#!/bin/sh\n', 0o111)
  t.match(await fixture.run({ program }), { ok: false, error: { code: 'TOOL_FAILED' } }, 'it is the shell that cannot read it')
})

t.test('fault 5 a NUL byte in an argument is refused', async t => {
  const fixture = await createCommandFixture(t)
  t.same(await fixture.run({ program: '/bin/echo', args: ['a\0b'], startable: false }), unavailable('/bin/echo', 'its path, an argument or a variable holds a NUL byte'))
})

t.test('fault 5 an argv that is too long is refused (E2BIG)', async t => {
  const fixture = await createCommandFixture(t)
  t.same(await fixture.run({ program: '/bin/echo', args: ['x'.repeat(3_000_000)], startable: false }), unavailable('/bin/echo', 'its arguments and environment are too long: hand long values over on stdin, or in files'))
})

t.test('fault 5 a missing workspace and a missing program give different errors', async t => {
  for (const [fixture, error] of [
    [createFixture(t), unavailable('/bin/echo', 'its working directory is missing')],
    // A box needs the workspace before there is a program.
    [await createCommandFixture(t), { ok: false, error: { code: await withoutBox() === false ? 'SANDBOX_FAILED' : 'TOOL_UNAVAILABLE' } }]
  ] as const) {
    rmSync(fixture.workspace, { recursive: true })
    t.match(await fixture.run({ program: '/bin/echo', startable: false }), error)
    mkdirSync(fixture.workspace)
  }
})

t.test('fault 5 a call whose program can\'t be started is not retried', async t => {
  t.equal(callErrors.TOOL_UNAVAILABLE.retryable, false)
})

t.test('fault 6 shell and flag injection stay literal arguments', async t => {
  const fixture = await createCommandFixture(t)
  const outcome = await fixture.run({ program: fixture.shell('echo-args', 'cat'), arguments: { name: '"; touch pwned; $(touch pwned) --help' } })
  t.same(outcome, { ok: true, output: { name: '"; touch pwned; $(touch pwned) --help' } })
  t.match(await fixture.runShell('ls'), { ok: true, output: {} })
})
