import { createFileStates } from '@toolyard/manifests'
import fc from 'fast-check'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'

const names = ['a', 'a/one', 'a/two', 'b', 'b/one', 'b/c', 'b/c/one', 'link', 'link/one']
const name = fc.constantFrom(...names)
const step = fc.oneof(
  name.map(at => ({ title: `writes ${at}`, act: (dir: string) => { writeFileSync(join(dir, at), String(Math.random())) } })),
  name.map(at => ({ title: `makes ${at}`, act: (dir: string) => { mkdirSync(join(dir, at)) } })),
  name.map(at => ({ title: `removes ${at}`, act: (dir: string) => { rmSync(join(dir, at), { recursive: true }) } })),
  fc.tuple(name, name).map(([from, to]) => ({ title: `moves ${from} to ${to}`, act: (dir: string) => { renameSync(join(dir, from), join(dir, to)) } })),
  fc.tuple(name, name).map(([to, at]) => ({ title: `links ${at} to ${to}`, act: (dir: string) => { symlinkSync(join(dir, to), join(dir, at)) } })),
  fc.tuple(name, fc.constantFrom(0o700, 0)).map(([at, mode]) => ({ title: `gives ${at} the mode ${mode}`, act: (dir: string) => { chmodSync(join(dir, at), mode) } }))
)

t.test('each change of a file is seen, also of one that was not there for long, behind a link, or in a directory that was not there', async t => {
  await fc.assert(fc.asyncProperty(fc.array(fc.tuple(step, fc.integer({ min: 0, max: 8_000 })), { maxLength: 25 }), async steps => {
    const dir = mkdtempSync(join(tmpdir(), 'file-states-'))
    const files = names.map(at => join(dir, at))
    let now = 0
    const statesOf = createFileStates(() => now)
    try {
      for (const [{ act }, ms] of steps) {
        try { act(dir) } catch { /* What can't be done changes nothing. */ }
        await nextTick(dir)
        now += ms
        if (await statesOf(files) !== await createFileStates()(files)) return false
      }
      return true
    } finally {
      for (const at of names) try { chmodSync(join(dir, at), 0o700) } catch { /* It isn't there. */ }
      rmSync(dir, { recursive: true })
    }
  }), { numRuns: 100 })
  t.pass('100 runs of up to 25 changes')
})

/** Waits until the file system gives another time to what changes. */
async function nextTick (dir: string): Promise<void> {
  const probe = `${dir}-probe`
  const at = (): bigint => {
    writeFileSync(probe, '')
    return statSync(probe, { bigint: true }).mtimeNs
  }
  const before = at()
  while (at() === before) await new Promise(resolve => setImmediate(resolve))
  rmSync(probe)
}

t.test('a change is seen that keeps the size, the time and the inode, as an archive makes it whose files have all the same time', async t => {
  const dir = t.testdir({ file: 'one' })
  const file = join(dir, 'file')
  utimesSync(file, 1, 1)
  const statesOf = createFileStates()
  const before = await statesOf([file])
  await nextTick(dir)
  writeFileSync(file, 'two')
  utimesSync(file, 1, 1)
  t.not(await statesOf([file]), before)
})

t.test('a link that leads nowhere is looked at each time: what it leads to comes without a change of its directory', async t => {
  const dir = t.testdir({ here: {}, there: {} })
  const files = [join(dir, 'here/link')]
  symlinkSync(join(dir, 'there/file'), join(dir, 'here/link'))
  let now = 0
  const statesOf = createFileStates(() => now)
  const before = await statesOf(files)
  for (; now < 20_000; now += 5_000) t.equal(await statesOf(files), before)
  writeFileSync(join(dir, 'there/file'), 'x')
  t.not(await statesOf(files), before)
})
