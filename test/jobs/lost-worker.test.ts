import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { startService } from '../support/service.ts'
import { reach, submit } from './submission.ts'

/** Notes each of its runs; the first one takes long. */
const noted = `#!/bin/sh
name=$(cat)
echo run >> "runs-$TOOL_NAME"
[ "$(wc -l < "runs-$TOOL_NAME")" -gt 1 ] || sleep 60
echo '{"done": true}'
`
const tool = (name: string, rest: object = {}): object => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], ...rest })
const service = await startService(t, {
  files: Object.fromEntries(['again', 'never'].map(name => [`tools/bin/${name}`, noted.replaceAll('$TOOL_NAME', name)])),
  tools: [tool('again', { idempotent: true }), tool('never')]
})
const runs = (name: string): number => {
  try {
    return readFileSync(join(service.dir, 'workspace', `runs-${name}`), 'utf8').trim().split('\n').length
  } catch {
    return 0
  }
}

t.test('fault 20, fault 21 a job of a killed worker: an idempotent tool is run again once, another one never, whatever its attempts', async t => {
  const again = await submit(service.client, { type: 'agentcli.again' })
  const never = await submit(service.client, { type: 'agentcli.never', max_attempts: 5 })
  await waitFor('both run', () => runs('again') === 1 && runs('never') === 1)
  await service.startWorker()
  await service.workers[0]?.stop('SIGKILL')
  t.match(await reach(service.client, again.id, 'succeeded', 'failed'), { status: 'succeeded', result: { done: true }, attempts: 2 })
  t.match(await reach(service.client, never.id, 'succeeded', 'failed'), { status: 'failed', error: { code: 'WORKER_LOST' } })
  t.equal(runs('again'), 2)
  t.equal(runs('never'), 1)
})
