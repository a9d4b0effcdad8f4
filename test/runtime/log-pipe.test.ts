import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const program = fileURLToPath(new URL('log-pipe-program.js', import.meta.url))

/** Nobody reads its stdout until a test does. */
function start (t: Test, ...args: string[]): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  t.teardown(() => { child.kill('SIGKILL') })
  return child
}

/** Reads its stdout from now on, and ends its stdin when a text has come. */
async function linesOf (child: ReturnType<typeof start>, last?: string): Promise<Array<{ line?: number, msg: string }>> {
  let all = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    all += chunk
    if (last !== undefined && all.includes(last, all.length - chunk.length - last.length)) child.stdin.end()
  })
  await once(child.stdout, 'end')
  return all.trimEnd().split('\n').map(line => JSON.parse(line) as { line?: number, msg: string })
}

t.test('a reader of the log that stands still holds up nothing, and gets all lines in their order when it reads again', async t => {
  const child = start(t, '20000', '100', 'stays')
  t.equal(String(await once(child.stderr, 'data')), 'logged\n')
  t.strictSame((await linesOf(child, '"line":19999,')).map(({ line }) => line), Array.from({ length: 20_000 }, (_, line) => line))
})

t.test('what is more than 16 MiB is lost, and the reader is told how many lines', async t => {
  const child = start(t, '30000', '1000', 'stays')
  await once(child.stderr, 'data')
  const lines = await linesOf(child, 'are lost')
  const got = lines.filter(({ msg }) => msg === 'line').length
  t.ok(got > 14_000 && got < 18_000, `${got} lines`)
  t.strictSame(lines.slice(got).map(({ msg }) => msg), [`${30_000 - got} lines of the log are lost: who reads it was behind`])
})

t.test('a process ends although nobody reads its log', async t => {
  const child = start(t, '20000', '100')
  child.stderr.resume()
  t.same(await once(child, 'exit'), [0, null])
})

t.test('a process that ends leaves no line behind for a reader that reads', async t => {
  t.equal((await linesOf(start(t, '20000', '100'))).length, 20_000)
})
