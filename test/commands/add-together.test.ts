import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { lockName, treeDigest } from '@toolyard/manifests'
import { runToolyard, toolyardProgram } from '../cli/toolyard.ts'
import { waitFor } from '../support/condition.ts'

const skill = (name: string, text = ''): string => `---\nname: ${name}\ndescription: Does ${name}.\n---\nText ${text}\n`
const commit = '0'.repeat(40)

function vendored (dir: string): string[] {
  return readdirSync(join(dir, 'tools/vendor')).sort()
}

/** An `add` whose server never answers; resolves when it was asked. */
async function hanging (t: Test, dir: string): Promise<{ kill: () => Promise<void>, part: () => string[] }> {
  const before = existsSync(join(dir, 'tools/vendor')) ? vendored(dir) : []
  const asked = join(dir, 'asked')
  const path = `${join(dir, 'bin')}:${process.env['PATH']}`
  const child = spawn(process.execPath, [toolyardProgram, 'add', `git+ssh://host/x.git#${commit}`, '--name', 'slow', '--yes'], { cwd: dir, env: { PATH: path, TMPDIR: join(dir, 'tmp') }, stdio: 'ignore' })
  const closed = once(child, 'close')
  const part = (): string[] => vendored(dir).filter(name => name.startsWith('.part-') && !before.includes(name))
  await waitFor('ssh asks', () => existsSync(asked))
  const ssh = Number(readFileSync(asked, 'utf8'))
  t.teardown(() => { if (isThere(ssh)) process.kill(ssh, 'SIGKILL') })
  return {
    part,
    kill: async () => {
      child.kill('SIGKILL')
      await closed
    }
  }
}

function isThere (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

t.test('what a killed add has fetched is taken away by the next one, and what a living one has fetched is not', async t => {
  const dir = t.testdir({ bin: { ssh: '#!/bin/sh\ncd "$(dirname "$0")/.."\nprintf %s "$$" > asked.new\nmv asked.new asked\nexec sleep 100\n' }, tmp: {}, one: { 'SKILL.md': skill('one') }, two: { 'SKILL.md': skill('two') } })
  execFileSync('chmod', ['+x', join(dir, 'bin/ssh')])
  const slow = await hanging(t, dir)
  t.equal(slow.part().length, 1)
  t.same(readdirSync(join(dir, 'tmp')), [], 'nothing lies elsewhere')
  t.match(await runToolyard(['add', 'one', '--yes'], { cwd: dir }), { status: 0 })
  t.equal(slow.part().length, 1, 'it still fetches')
  await slow.kill()
  t.equal(slow.part().length, 1)
  t.match(await runToolyard(['add', 'two', '--yes'], { cwd: dir }), { status: 0 })
  t.match(vendored(dir), [/^one@/, /^two@/])
})

t.test('of adds at the same time each is in the lock, and of those with one name the first alone', async t => {
  const names = ['a', 'b', 'c', 'd']
  const dir = t.testdir(Object.fromEntries(names.map(name => [name, { 'SKILL.md': skill(name) }])))
  const all = await Promise.all(names.map(async name => await runToolyard(['add', name, '--yes'], { cwd: dir })))
  t.same(all.map(({ status }) => status), [0, 0, 0, 0])
  const same = await Promise.all(names.map(async name => await runToolyard(['add', name, '--name', 'same', '--yes'], { cwd: dir })))
  t.same(same.map(({ status }) => status), [1, 1, 1, 1], 'their skills are there already')
  const other = t.testdir(Object.fromEntries(names.map(name => [name, { 'SKILL.md': skill('same', name) }])))
  const ran = await Promise.all(names.map(async name => await runToolyard(['add', name, '--name', 'same', '--yes'], { cwd: other })))
  t.equal(ran.filter(({ status }) => status === 0).length, 1, JSON.stringify(ran.map(({ stderr }) => stderr)))
  for (const { stderr } of ran.filter(({ status }) => status !== 0)) t.match(stderr, /Another command has changed same meanwhile|toolyard\.lock\.json has same already/)
  const { entries } = JSON.parse(readFileSync(join(other, lockName), 'utf8')) as { entries: Record<string, { path: string, digest: string }> }
  t.same(Object.keys(entries), ['same'])
  t.same(vendored(other).map(name => `tools/vendor/${name}`), [entries['same']?.path])
  t.equal(await treeDigest(join(other, entries['same']?.path ?? '')), entries['same']?.digest)
})
