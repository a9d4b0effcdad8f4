import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { callbackEnv, startReceiver } from '../callbacks/receiver.ts'
import { openVisit } from '../dashboard/visitor.ts'
import { createService } from '../support/service.ts'
import { endOf } from './job-end.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'
import { worstTexts } from './worst-texts.ts'

const receiver = await startReceiver(t)
const env = { ...turnEnvironment(), ...callbackEnv, REDACT: '(a+)+$;(x?){30}y;sk-[a-z0-9]+' }
const service = await createService(t, {
  files: { 'tools/bin/show': '#!/bin/sh\ncat out\n', 'tools/bin/fail': '#!/bin/sh\ncat out >&2; exit 1\n' },
  tools: ['show', 'fail'].map(name => ({ name, description: 'A tool.', command: [`./tools/bin/${name}`], schema: { type: 'object' } })),
  env
})
const { client } = service
const leavesLoopsFree = turnsOf(service, env)
const { api } = await openVisit(service.api.address)
const chosen = ['line feeds', 'control characters', 'lists', 'lists in lists', 'small numbers', 'objects of all shapes'] as const

t.test('promise 10: no end of a job holds up its callback, or its page of the dashboard', async t => {
  let count = 0
  for (const [type, size] of [['show', 1_048_566], ['fail', 65_000]] as const) {
    for (const what of chosen) {
      const text = worstTexts(size)[what] ?? ''
      writeFileSync(join(service.dir, 'workspace', 'out'), type === 'fail' && text.startsWith('[') ? `{"error":"no","more":${text}}` : text)
      const name = `${size} bytes of ${what} of ${type}`
      // The input is kept with the job.
      const input = { text: worstTexts(500_000)['control characters']?.slice(0, 80_000), at: count }
      let id = ''
      await leavesLoopsFree(t, `${name}: the callback`, async () => {
        const path = `/of-${count++}`
        const { body } = await client.request<{ job?: { id: string } }>('/v1/jobs', { body: { type: `agentcli.${type}`, input, callback_url: receiver.url + path } })
        id = body.job?.id ?? ''
        const [callback] = await receiver.at(path)
        t.equal(callback?.body.id, id)
      })
      t.equal(await endOf(client, id), type === 'show' ? 'succeeded' : 'failed')
      await leavesLoopsFree(t, `${name}: the page`, async () => { t.equal((await api(`/queues/default/${id}`)).status, 200) })
    }
  }
})

t.test('promise 10: no arguments hold up the page of their job', async t => {
  for (const what of chosen) {
    const text = worstTexts(900_000)[what] ?? ''
    const isParts = /^[[{]/.test(text)
    const value: unknown = isParts ? JSON.parse(worstTexts(50_000)[what] ?? '') : text.slice(0, 160_000)
    const { body } = await client.request<{ job?: { id: string } }>('/v1/jobs', { body: { type: 'agentcli.show', input: { value }, delay_ms: 3_600_000 } })
    await leavesLoopsFree(t, what, async () => { t.equal((await api(`/queues/default/${body.job?.id}`)).status, 200) })
  }
})
