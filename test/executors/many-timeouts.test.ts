import { readdirSync } from 'node:fs'
import t from 'tap'
import { running } from '../sandbox/running.ts'
import { waitFor } from '../support/condition.ts'
import { createFixture } from './fixture.ts'

t.setTimeout(600_000)

t.test('fault 10 a thousand timeouts leave no process, descriptor, timer or listener', { skip: process.platform === 'linux' ? false : 'needs /proc', timeout: 600_000 }, async t => {
  const fixture = createFixture(t)
  const { signal } = new AbortController()
  await fixture.runShell('exec sleep 60', { timeoutMs: 1, signal })
  await fixture.executors.close()
  const before = { fds: readdirSync('/proc/self/fd').length, resources: resources() }
  let left = 1_000
  let timedOut = 0
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const outcome = await fixture.runShell('exec sleep 12345', { timeoutMs: 5, signal })
      if (!outcome.ok) timedOut += 1
    }
  }
  await Promise.all(Array.from({ length: 8 }, lane))
  await fixture.executors.close()
  t.equal(timedOut, 1_000)
  t.equal(readdirSync('/proc/self/fd').length, before.fds)
  // A handle that closes takes a turn or two of the event loop to be gone.
  await waitFor('resources are as before', () => resources() === before.resources)
  t.same(running('sleep', '12345'), [])
})

/** Handles that keep the event loop going, but for those that are closing. */
function resources (): string {
  return process.getActiveResourcesInfo().filter(name => name !== 'CloseReq').sort().join(' ')
}
