import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { discardSession, openSessionDirectory, surveySession, Trash, type Survey } from '@toolyard/workspace'

/* What a tool may leave in the directory of its session, for who counts and removes it. */

const unprivileged = 1_000
/** All that is there, with all files as changed ones. */
const survey = async (dir: string): Promise<Survey> => await surveySession(dir, { mostBytes: 1e9, since: 0n, tenant: undefined })
t.setTimeout(180_000)

function directory (t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-session-'))
  t.teardown(() => { rmSync(dir, { recursive: true, force: true }) })
  return dir
}

/** A process that puts a link and a directory in each other's place, as long as the test runs. */
async function startSwapping (t: Test, place: string, target: string): Promise<void> {
  const child = fork(join(import.meta.dirname, 'swapping-entry.js'), [place, target])
  t.teardown(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await once(child, 'message')
}

async function clear (dir: string): Promise<Error[]> {
  const faults: Error[] = []
  const trash = new Trash(dir, ({ error }) => { faults.push(error) })
  await trash.clear(60_000)
  await trash.close()
  return faults
}

void t.test('a session whose tool took every right to its directory from its own user is removed', async t => {
  const dir = directory(t)
  mkdirSync(join(dir, 'one/below'), { recursive: true })
  for (const path of ['one/below', 'one']) chmodSync(join(dir, path), 0)
  await discardSession({ dir, templatesDir: undefined }, 'one')
  t.notOk(existsSync(join(dir, 'one')))
  t.same([await clear(dir), await clear(dir), readdirSync(join(dir, '.trash'))], [[], [], []])
})

void t.test('files in directories that their owner can\'t look into count', async t => {
  for (const mode of [0o000, 0o300, 0o600]) {
    const dir = directory(t)
    mkdirSync(join(dir, 'x'))
    writeFileSync(join(dir, 'x/large'), Buffer.alloc(1_000_000))
    for (const path of ['x', '.']) chmodSync(join(dir, path), mode)
    t.ok((await survey(dir)).bytes >= 1_000_000, `mode ${mode.toString(8)}`)
  }
})

void t.test('a file that a killed process began to write neither counts nor stays, and one that is still written does', async t => {
  const dir = directory(t)
  const [left, coming] = ['0', '1'].map(digit => join(dir, `.toolyard-${digit.repeat(32)}.tmp`)) as [string, string]
  for (const path of [left, coming, join(dir, 'old')]) writeFileSync(path, Buffer.alloc(100_000))
  const longAgo = Date.now() / 1_000 - 600
  for (const path of [left, join(dir, 'old')]) utimesSync(path, longAgo, longAgo)
  t.match(await survey(dir), { entries: 2, bytes: 2 * statSync(coming).blocks * 512 })
  t.same([existsSync(left), existsSync(coming), existsSync(join(dir, 'old'))], [false, true, true])
  t.ok(statSync(coming).mtimeMs > 1_000 * longAgo, 'its time is its own')
})

void t.test('a tree that is too deep counts as above any quota, and hard links of one file count once', async t => {
  const dir = directory(t)
  writeFileSync(join(dir, 'file'), Buffer.alloc(100_000))
  linkSync(join(dir, 'file'), join(dir, 'again'))
  t.match(await survey(dir), { entries: 2, bytes: statSync(join(dir, 'file')).blocks * 512 })
  mkdirSync(join(dir, Array.from({ length: 300 }, () => 'd').join('/')), { recursive: true })
  t.equal((await survey(dir)).bytes, Infinity)
})

void t.test('only files of the session are counted and removed while a tool swaps directories with links', async t => {
  const [dir, outside] = [directory(t), directory(t)]
  writeFileSync(join(outside, 'large'), Buffer.alloc(10_000_000))
  chmodSync(outside, 0o500)
  t.teardown(() => { chmodSync(outside, 0o700) })
  mkdirSync(join(dir, '.trash/session'), { recursive: true })
  await startSwapping(t, join(dir, '.trash/session'), outside)
  for (let n = 0; n < 1_000; n++) {
    const { bytes, changed } = await survey(join(dir, '.trash/session'))
    if (bytes > 1_000_000) return t.fail(`the files outside were counted, at the ${n}th time`)
    if (changed.some(({ path }) => path.includes('large'))) return t.fail(`a file outside was named, at the ${n}th time`)
  }
  for (let n = 0; n < 1_000; n++) {
    await clear(dir)
    mkdirSync(join(dir, '.trash/session'), { recursive: true })
    if ((statSync(outside).mode & 0o777) !== 0o500) return t.fail(`the rights of the directory outside were changed, at the ${n}th time`)
  }
  t.same(readdirSync(outside), ['large'])
})

void t.test('a session begins as one version of its template, also when another one takes its place while it is copied', async t => {
  const [dir, templatesDir] = [directory(t), directory(t)]
  for (const version of ['v1', 'v2']) {
    mkdirSync(join(templatesDir, version))
    for (let file = 0; file < 1_000; file++) writeFileSync(join(templatesDir, version, String(file)), version)
  }
  symlinkSync('v1', join(templatesDir, 'current'))
  const opening = openSessionDirectory({ dir, templatesDir }, { id: 'one', from: 'current', quotaBytes: 1e9 })
  const making = join(dir, '.making')
  while (!existsSync(making) || !readdirSync(making).some(name => readdirSync(join(making, name)).length > 100)) await turn()
  symlinkSync('v2', join(templatesDir, 'next'))
  renameSync(join(templatesDir, 'next'), join(templatesDir, 'current'))
  rmSync(join(templatesDir, 'v1'), { recursive: true })
  const place = await opening
  const versions = readdirSync(place).map(name => readFileSync(join(place, name), 'utf8'))
  t.same([versions.length, ...new Set(versions)], [1_000, 'v2'])
  t.same(readdirSync(making), [])
})

void t.test('calls that arrive first at once in a session of an empty template work in one directory', async t => {
  const [dir, templatesDir] = [directory(t), directory(t)]
  mkdirSync(join(templatesDir, 'blank'), { mode: 0o750 })
  for (let session = 0; session < 20; session++) {
    const found: number[] = []
    await Promise.all(Array.from({ length: 6 }, async () => {
      found.push(statSync(await openSessionDirectory({ dir, templatesDir }, { id: String(session), from: 'blank', quotaBytes: 1e9 })).ino)
    }))
    const { ino, mode } = statSync(join(dir, String(session)))
    t.same([new Set(found), mode & 0o777], [new Set([ino]), 0o750])
  }
})

// The kernel lets root look into everything.
if (process.getuid?.() === 0) {
  const own = mkdtempSync(join(tmpdir(), 'toolyard-unprivileged-'))
  chownSync(own, unprivileged, unprivileged)
  t.teardown(() => { rmSync(own, { recursive: true }) })
  void t.spawn('setpriv', [`--reuid=${unprivileged}`, `--regid=${unprivileged}`, '--clear-groups', process.execPath, join(import.meta.dirname, 'session-files.test.js')], { env: { ...process.env, HOME: '/nonexistent', _TAPJS_PROCESSINFO_CWD_: own } }, 'all of this holds for a worker without privileges')
}
