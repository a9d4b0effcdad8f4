import t from 'tap'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { meta, rpc } from './clients.ts'

const { keys, API_KEYS_JSON } = makeKeys({ approver: { role: 'approver' } })
const service = await createService(t, {
  files: { 'tools/bin/pay': '#!/bin/sh\ncat > /dev/null\necho \'{"paid": true}\'\n' },
  tools: [{ name: 'pay', schema: { type: 'object' }, command: ['./tools/bin/pay'], approval: 'required' }],
  env: { API_KEYS_JSON }
})
const { client: http, api } = service
const waits = 30

async function pay (params: object): Promise<Record<string, unknown>> {
  const about = { ...meta, 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } }
  const { body } = await rpc(api.address, 'tools/call', { name: 'pay', ...params }, { key: testKeys.admin, meta: about })
  return body.result ?? {}
}

t.test('any number of calls wait for one that is held, whatever arguments it has, and all hear of its end', async t => {
  const asked = await pay({ arguments: { lines: Array.from({ length: 20_000 }, (_, at) => `line ${at} of a long list of lines`) } })
  const { body } = await http.request<{ approvals: Array<{ job_id: string }> }>('/v1/approvals', { key: keys.approver })
  const held = await http.held(body.approvals[0]?.job_id ?? '')
  const again = { arguments: {}, requestState: asked['requestState'], inputResponses: { approval: { action: 'accept' } } }
  const going = Array.from({ length: waits }, () => pay(again))
  // It is read behind them.
  await http.request(`/v1/jobs/${held.job_id}`)
  await http.decide(held, 'approve', { key: keys.approver })
  for (const result of await Promise.all(going)) t.match(result, { structuredContent: { paid: true } })
})
