import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const program = fileURLToPath(new URL('log-lines-program.js', import.meta.url))
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

t.test('a process whose log can\'t be written goes on and ends', async t => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => { closeSync(full) })
  const { status, stderr } = spawnSync(process.execPath, [program], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8', timeout: 20_000 })
  t.same([status, stderr], [0, 'logged\n'])
})

t.test('when the disk has room again the log goes on with whole lines', { skip: !canMount && 'this user can make no file system of its own' }, async t => {
  const script = 'mount -t tmpfs -o size=8k tmpfs "$1" && cd "$1" && head -c 3000 /dev/zero > full && "$2" "$3" full > log && cat log'
  const { stdout } = spawnSync('unshare', ['-rm', 'sh', '-c', script, 'sh', t.testdir(), process.execPath, program], { encoding: 'utf8' })
  const lines = stdout.trimEnd().split('\n')
  const last = lines.slice(-3)
  t.same(last.map(line => (JSON.parse(line) as { msg: string }).msg), ['after', 'after', 'after'])
  const broken = lines.filter(line => !line.endsWith('}'))
  t.ok(broken.length <= 1, `lines that are no JSON: ${broken.length}`)
})
