import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { claim } from 'toolyard'

const program = fileURLToPath(new URL('claim-program.js', import.meta.url))
const claimants = 8
const rounds = 60
/** For all claimants to have loaded. */
const headStartMs = 4_000

await t.test('of starts at the very same moment exactly one has the directory, whatever an earlier one left there', { timeout: 120_000 }, async t => {
  const dir = t.testdir()
  const leftovers = ['', 'no JSON', JSON.stringify({ pid: 2 ** 22, boot: '', started: 1 })]
  const files = Array.from({ length: rounds }, (_, round) => {
    const file = join(dir, String(round), 'start.json')
    const leftover = leftovers[round % (leftovers.length + 1)]
    if (leftover !== undefined) {
      mkdirSync(join(dir, String(round)))
      writeFileSync(`${file}.1`, leftover)
    }
    return file
  })
  const begin = String(Date.now() + headStartMs)
  const children = Array.from({ length: claimants }, () => spawn(process.execPath, [program, JSON.stringify(files), begin], { stdio: ['pipe', 'pipe', 'inherit'] }))
  t.teardown(async () => {
    const ends = children.map(child => once(child, 'close'))
    for (const child of children) child.stdin.end()
    await Promise.all(ends)
  })
  const got = (await Promise.all(children.map(async child => JSON.parse(String((await once(child.stdout, 'data'))[0])) as string[]))).flat()
  t.same([...got].sort(), [...files].sort())
})

t.test('a claim that was given back, or whose process is gone, is free', async t => {
  const file = join(t.testdir(), 'a/start.json')
  for (let time = 0; time < 3; time++) claim(file)()
  t.equal(readdirSync(join(file, '..')).length, 1, 'nothing heaps up')
})
