import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys } from '../support/service.ts'

/** The search goes through it with hundreds of states at once. */
const noise = `#!/usr/bin/env node
let state = 1
process.stdout.write(Array.from({ length: 200000 }, () => (state = state * 48271 % 2147483647) % 2 === 0 ? 'a' : 'b').join(''))
`
const pattern = 'a[ab]{900}[c-e]'
/** Processor time by which the searches have their threads, in microseconds: each takes some 1.5 s. */
const begunUs = 600_000

t.test('searches of one tenant that take seconds leave threads to another one, which reads an output meanwhile', async t => {
  const { keys, API_KEYS_JSON } = makeKeys({ acme: { tenant: 'acme' }, other: { tenant: 'other' } })
  const { client } = await injectService(t, {
    files: { 'tools/bin/noise': noise }, tools: [{ name: 'noise', command: ['./tools/bin/noise'] }], env: { API_KEYS_JSON }
  })
  const jobOf = async (key: string): Promise<string> => (await client.call('noise', {}, { wait_ms: 60_000 }, key)).job_id ?? ''
  const [loud, quiet] = await Promise.all([jobOf(keys.acme), jobOf(keys.other)])
  const before = process.cpuUsage().user
  const searches = Array.from({ length: 6 }, async () => await client.call('output_search', { job_id: loud, pattern }, { wait_ms: 60_000 }, keys.acme))
  await waitFor('searches are under way', () => process.cpuUsage().user - before > begunUs)
  const read = client.call('output_read', { job_id: quiet }, {}, keys.other)
  t.equal(await Promise.race([read.then(() => 'read'), ...searches.map(async search => await search.then(() => 'searched'))]), 'read')
  t.match(await read, { ok: true })
  await Promise.all(searches)
})
