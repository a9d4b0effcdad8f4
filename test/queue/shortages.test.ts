import t from 'tap'
import { Shortages } from '@toolyard/worker'
import { waitFor } from '../support/condition.ts'

const logger = { warn: () => {}, info: () => {} }

t.test('a call that can never be started ends, and the worker takes others meanwhile', async t => {
  const shortages = new Shortages({ tryStart: async () => await Promise.resolve(undefined), logger })
  let tries = 0
  while (shortages.met('cgroup EINVAL', 'odd')) {
    tries += 1
    // As a turn of the queue would be between them.
    await new Promise(setImmediate)
    t.equal(shortages.current, undefined, 'it takes jobs')
  }
  t.equal(tries, 39)
  t.equal(shortages.met('cgroup EINVAL', 'odd'), true, 'a job that is run again begins anew')
})

t.test('a worker that can start nothing takes no jobs until it can', async t => {
  let missing: string | undefined = 'EMFILE'
  const shortages = new Shortages({ tryStart: async () => await Promise.resolve(missing), logger })
  t.teardown(() => { shortages.stop() })
  for (const job of ['a', 'b', 'c']) t.equal(shortages.met('EMFILE', job), true)
  await waitFor('it takes no jobs', () => shortages.current === 'EMFILE')
  t.match(shortages.readiness(), { ok: false, detail: /EMFILE/ })
  missing = undefined
  await waitFor('it takes jobs', () => shortages.current === undefined)
})
