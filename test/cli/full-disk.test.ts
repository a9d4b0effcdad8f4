import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { toolyardProgram } from './toolyard.ts'

/** A shell line in a file system of its own, which is full but for 4 KiB, or can't be written. */
function runIn (t: Test, mount: string, line: string): string {
  const directory = t.testdir()
  const script = `${mount} && cd "$1" && ${line}`
  const { stdout, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', script, 'sh', directory], { env: { PATH: process.env['PATH'], TOOLYARD: toolyardProgram, NODE: process.execPath, SANDBOX: 'off' }, encoding: 'utf8' })
  return stdout + stderr
}

const full = 'mount -t tmpfs -o size=4k tmpfs "$1"'
const readOnly = 'mount -t tmpfs -o ro tmpfs "$1"'
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
const skip = !canMount && 'this user can make no file system of its own'

t.test('the message about a full disk names the place and the remedy', { skip }, async t => {
  t.match(runIn(t, full, '"$NODE" "$TOOLYARD" init'), /^toolyard init: \S+ can't be written \(ENOSPC\): the disk is full: make room there$/m)
  t.match(runIn(t, full, 'echo full > a && "$NODE" "$TOOLYARD" start'), /^toolyard start: \S+ can't be written \(ENOSPC\): the disk is full: make room there$/m)
})

t.test('the message about a directory that can\'t be written names the place and the remedy', { skip }, async t => {
  for (const command of ['init', 'start']) {
    t.match(runIn(t, readOnly, `"$NODE" "$TOOLYARD" ${command}`), new RegExp(`^toolyard ${command}: \\S+ can't be written \\(E\\w+\\): the file system is read-only.*: use another directory$`, 'm'))
  }
})

t.test('the message about a directory of somebody else, perhaps root, names the place and the remedy', { skip }, async t => {
  const told = runIn(t, 'true', 'mkdir -m 500 .toolyard && setpriv --bounding-set=-all "$NODE" "$TOOLYARD" start')
  t.match(told, /^toolyard start: \S+\/\.toolyard\/\S+ can't be opened \(EACCES\): give this user the right$/m)
})
