import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLauncher, startError } from '@toolyard/sandbox'
import t, { type Test } from 'tap'

const notLinux = process.platform === 'linux' ? false : 'only Linux has the helper process'
/** A file system of its own, at first with room for few files. */
const disk = mkdtempSync(join(tmpdir(), 'toolyard-disk-'))
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,nr_inodes=20', 'tmpfs', disk]).status === 0
t.teardown(() => {
  if (isMounted) spawnSync('umount', ['-l', disk])
  rmSync(disk, { recursive: true })
})

interface Starts {
  /** Starts a process and ends it: why it wasn't started, if it wasn't. */
  start: (stdin?: string) => Promise<object | undefined>
  close: () => Promise<void>
}

function starts (t: Test, env: { TMPDIR?: string, PATH?: string } = {}): Starts {
  const before = { ...process.env }
  Object.assign(process.env, env)
  t.teardown(() => { Object.assign(process.env, { TMPDIR: before['TMPDIR'] ?? '/tmp', PATH: before['PATH'] }) })
  const launcher = createLauncher({ prefix: [] })
  const close = async (): Promise<void> => { await launcher.close() }
  t.teardown(close)
  const plan = { program: '/bin/sleep', args: ['600'], env: {}, cwd: '/' }
  return {
    async start (stdin = '') {
      try {
        const child = await launcher.launch({ plan, stdin, files: [] })
        process.kill(child.pid, 'SIGKILL')
        await child.exited
        child.release()
        return undefined
      } catch (error) {
        return await startError(plan, error)
      }
    },
    close
  }
}

const shortage = (code: string): object => ({ code: 'INTERNAL', message: `the worker cannot start a process: ${code}`, details: { shortage: code } })

void t.test('a full directory for temporary files fails the starts of its time: the worker is to blame, and keeps its helper', { skip: notLinux || (!isMounted && 'this user can mount no file system') }, async t => {
  const { start, close } = starts(t, { TMPDIR: disk })
  for (let count = 0; count < 2; count++) t.strictSame(await start(), shortage('ENOSPC'), 'no FIFO can be made')
  t.strictSame(readdirSync(disk).flatMap(name => readdirSync(join(disk, name))), [], 'the room that there is stays free')
  spawnSync('mount', ['-o', 'remount,nr_inodes=1000', disk])
  t.equal(await start(), undefined)
  t.strictSame(await start('x'.repeat(100_000)), shortage('ENOSPC'), 'there is no room for its input')
  t.equal(await start('x'.repeat(10_000)), undefined)
  const [directory = ''] = readdirSync(disk)
  rmSync(join(disk, directory), { recursive: true })
  t.strictSame(await start(), { code: 'INTERNAL', message: 'the worker cannot start a process: CHANNELS' }, 'somebody removed the directory')
  await close()
})

void t.test('a worker that is out of descriptors with its first start has a helper with the next one', { skip: notLinux }, async t => {
  const { start } = starts(t)
  const limit = spawnSync('prlimit', ['--pid', String(process.pid), '--nofile', '--noheadings', '--output', 'SOFT'], { encoding: 'utf8' }).stdout.trim()
  const restore = spawn('sh', ['-c', `read -r _; exec prlimit --pid ${process.pid} --nofile=${limit}:`], { stdio: ['pipe', 'ignore', 'ignore'] })
  const last = Math.max(...readdirSync('/proc/self/fd').map(Number)) + 20
  const filling = [openSync('/dev/null', 'r')]
  while (Math.max(...filling) < last) filling.push(openSync('/dev/null', 'r'))
  spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${last + 1}:`])
  for (const room of [1, 3]) {
    for (const fd of filling.splice(0, room)) closeSync(fd)
    t.strictSame(await start(), shortage('EMFILE'))
  }
  restore.stdin.end('\n')
  await once(restore, 'exit')
  for (const fd of filling) closeSync(fd)
  t.equal(await start(), undefined)
})
