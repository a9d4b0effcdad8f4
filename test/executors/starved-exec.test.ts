import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { killBox, watchProcessorTime } from '@toolyard/sandbox'
import { python } from '../python/fixture.ts'

/**
 * Runs another program in its place, with much memory to give back first and next to no processor time: others of its group keep
 * its processor busy. A kernel that doesn't tell `stat` of a process in an `exec` makes who reads it wait all that time.
 */
const script = `import mmap, os, sys
memory = mmap.mmap(-1, 256 * 2 ** 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_NOHUGEPAGE)
memory[::4096] = b"x" * (256 * 256)
dead = os.fork()
if dead == 0:
    os.setpgid(0, 0)
    os._exit(0)
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
for each in range(4):
    if os.fork() == 0:
        os.execvp("python3", ["python3", "-c", "while True: pass"])
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
print(dead, flush=True)
os.execvp("sleep", ["sleep", "600"])
`

void t.test('a process that is long in its exec holds up no event loop that looks at its use, or for the processes of a box', { skip: python.skip }, async t => {
  const child = spawn('python3', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  t.teardown(() => process.kill(-(child.pid ?? 0), 'SIGKILL'))
  // The group of a dead process that nobody reaps: whether one of it lives, the process table says.
  const [box] = await once(child.stdout, 'data') as [Buffer]
  let last = performance.now()
  let longest = 0
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 10)
  const end = watchProcessorTime(() => child.pid)
  for (let looks = 0; looks < 20; looks++) {
    t.same(await killBox(Number(box)), [])
    await sleep(100)
  }
  clearInterval(timer)
  t.ok(end() >= 0)
  t.ok(longest < 1_000, `${Math.round(longest)} ms`)
})
