import { chmodSync, chownSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFixture, outputOf, type Fixture } from '../executors/fixture.ts'

const isRoot = process.getuid?.() === 0
const modeOf = (fixture: Fixture, name: string): string => (lstatSync(join(fixture.workspace, name)).mode & 0o7777).toString(8)

function place (fixture: Fixture, name: string, mode: number): void {
  writeFileSync(join(fixture.workspace, name), '#!/bin/sh\n')
  chmodSync(join(fixture.workspace, name), mode)
}

const calls: Record<string, [jobType: string, args: Record<string, unknown>, left: string]> = {
  'data.write_file that replaces': ['data.write_file', { path: 'file', content: 'new' }, 'file'],
  'data.write_file that changes nothing': ['data.write_file', { path: 'file', content: '#!/bin/sh\n' }, 'file'],
  'data.write_file that appends by a link': ['data.write_file', { path: 'link', mode: 'append', content: 'new' }, 'file'],
  'data.write_file that edits': ['data.write_file', { path: 'file', mode: 'edit', old_text: '/bin/sh', new_text: '/bin/bash' }, 'file'],
  'data.write_file that patches': ['data.write_file', { path: 'file', mode: 'apply_patch', patch: '@@ -1 +1 @@\n-#!/bin/sh\n+#!/bin/bash\n' }, 'file'],
  'workspace.move': ['workspace.move', { from: 'file', to: 'moved', overwrite: true }, 'moved'],
  'workspace.move over another': ['workspace.move', { from: 'file', to: 'other', overwrite: true }, 'other']
}

for (const [what, [jobType, args, left]] of Object.entries(calls)) {
  t.test(`B29 ${what} leaves no setuid, setgid or sticky bit, and the permissions as they are`, async t => {
    const fixture = createFixture(t)
    symlinkSync('file', join(fixture.workspace, 'link'))
    for (const special of [0o4000, 0o2000, 0o6000, 0o7000]) {
      place(fixture, 'file', special | 0o755)
      place(fixture, 'other', special | 0o755)
      outputOf(await fixture.runBuiltin(jobType, args))
      t.equal(modeOf(fixture, left), '755')
    }
  })
}

t.test('B29 a new file in a directory with the setgid bit has none itself, and the directory keeps it', async t => {
  const fixture = createFixture(t)
  mkdirSync(join(fixture.workspace, 'shared'))
  chmodSync(join(fixture.workspace, 'shared'), 0o2775)
  outputOf(await fixture.runBuiltin('data.write_file', { path: 'shared/deep/new', content: 'x', create_if_missing: true, mkdir_p: true }))
  t.equal(lstatSync(join(fixture.workspace, 'shared/deep/new')).mode & 0o7111, 0)
  outputOf(await fixture.runBuiltin('workspace.move', { from: 'shared', to: 'moved' }))
  t.equal(modeOf(fixture, 'moved'), '2775')
})

t.test('B29 a file of another owner keeps it when a worker of root writes, and loses the bits', { skip: isRoot ? false : 'only root gives files away' }, async t => {
  const fixture = createFixture(t)
  place(fixture, 'file', 0o755)
  chownSync(join(fixture.workspace, 'file'), 65_534, 65_534)
  chmodSync(join(fixture.workspace, 'file'), 0o6750)
  outputOf(await fixture.runBuiltin('data.write_file', { path: 'file', content: 'new' }))
  t.match(lstatSync(join(fixture.workspace, 'file')), { uid: 65_534, gid: 65_534 })
  t.equal(modeOf(fixture, 'file'), '750')
})

t.test('B29 where the owner can\'t be kept, the new group gets only the rights of all others', { skip: isRoot ? false : 'only root makes files of others' }, async t => {
  const fixture = createFixture(t)
  for (const [directory, mode] of [['..', 0o755], ['.', 0o777]] as const) chmodSync(join(fixture.workspace, directory), mode)
  for (const [before, after] of [[0o660, '600'], [0o664, '644'], [0o777, '777']] as const) {
    place(fixture, 'file', before)
    chownSync(join(fixture.workspace, 'file'), 65_534, 65_534)
    try {
      // As a worker without privileges: it is in no group of the file's. All calls of this process are such meanwhile.
      process.setegid?.(1_000)
      process.setgroups?.([])
      process.seteuid?.(1_000)
      const outcome = await fixture.runBuiltin('data.write_file', { path: 'file', content: 'new' })
      if (before !== 0o660) outputOf(outcome)
      else t.match(outcome, { ok: false }, 'what it can\'t read it doesn\'t replace')
    } finally {
      process.seteuid?.(0)
      process.setegid?.(0)
    }
    if (before !== 0o660) t.equal(modeOf(fixture, 'file'), after)
  }
})
