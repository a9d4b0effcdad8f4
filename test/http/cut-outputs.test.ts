import t from 'tap'
import { injectService } from '../support/injected.ts'

const long = `#!/usr/bin/env node
process.stdout.write('y'.repeat(3000000))
`

t.test('who reads or searches an output that was not kept whole is told so', async t => {
  const { client } = await injectService(t, {
    files: { 'tools/bin/long': long }, tools: [{ name: 'long', command: ['./tools/bin/long'] }], env: { MAX_OUTPUT_BYTES: '1048576' }
  })
  const ask = async (name: string, args: object = {}): Promise<{ job_id?: string }> => {
    const { results: [result] } = await client.batch([{ call_id: 'c', name, arguments: args }], { wait_ms: 60_000 })
    return result ?? {}
  }
  const job = await ask('long')
  const kept = /^the first \d+ of 3000000 bytes$/
  t.match(await ask('output_read', { job_id: job.job_id, lines: '1' }), { ok: false, error: { message: /read it by offset/ } })
  t.match(await ask('output_read', { job_id: job.job_id, offset: 1_000_000 }), { ok: true, output: { offset: 1_000_000, kept } })
  t.match(await ask('output_search', { job_id: job.job_id, pattern: 'x' }), { ok: true, output: { match_count: 0, kept } })
})
