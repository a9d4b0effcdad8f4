import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { isAlive, readyPid, startDirectory, startSession } from '../cli/start-session.ts'

const ready = 'Toolyard is ready at'

await t.test('a worker, a service or a Redis that dies is started again', async t => {
  const directory = startDirectory(t)
  const session = startSession(t, directory)
  await session.printed(ready)
  for (const name of ['worker', 'api'] as const) {
    const pid = await readyPid(directory, name)
    process.kill(pid, 'SIGKILL')
    t.not(await readyPid(directory, name, 2), pid)
    t.match(session.output(), `${name} ended (signal SIGKILL); starting it again in 0.05 s`)
  }
  const log = join(directory, '.toolyard/redis/redis.log')
  const starts = (): RegExpMatchArray[] => [...readFileSync(log, 'utf8').matchAll(/^(\d+):M .*ready to accept connections/gim)]
  process.kill(Number(starts()[0]?.[1]), 'SIGKILL')
  await waitFor('Redis being ready again', () => starts().length === 2)
  session.signal('SIGTERM')
  t.equal(await session.exited, 0)
})

await t.test('after a killed start its parts end by themselves, and the next start works', async t => {
  const directory = startDirectory(t)
  const first = startSession(t, directory)
  await first.printed(ready)
  const pids = [await readyPid(directory, 'api'), await readyPid(directory, 'worker')]
  first.signal('SIGKILL')
  t.equal(await first.exited, 'SIGKILL')
  await waitFor('the parts to end', () => !pids.some(isAlive))
  const second = startSession(t, directory)
  await second.printed(ready)
  second.signal('SIGTERM')
  t.equal(await second.exited, 0)
})
