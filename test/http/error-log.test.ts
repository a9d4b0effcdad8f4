import type { InvokeBatchResponse } from '@toolyard/contract'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { openReader } from '../streams/event-reader.ts'
import { injectService } from '../support/injected.ts'
import { bundleOf, testKeys } from '../support/service.ts'

const well = {
  'python/well.py': "from toolyard import Tool\n\n\nclass Well(Tool):\n    def execute(self):\n        raise ValueError('the well is dry')\n",
  'tool_manifest.json': bundleOf({ name: 'well', description: 'Fetches water.', module: 'well', class_name: 'Well', python_root: 'python', inputs: {} })
}
const { client, app } = await injectService(t, { files: { ...programs, ...well }, tools: entries, manifests: ['tools.json', 'tool_manifest.json'] })
const path = '/v1/agent-tools/invoke-batch'
const calls = [
  { call_id: 'a', name: 'fail', arguments: { stderr: 'first\nlast' } },
  { call_id: 'b', name: 'well' },
  { call_id: 'c', name: 'no_such_tool' },
  { call_id: 'd', name: 'echo' }
]
const post = async (query: string): Promise<InvokeBatchResponse> => {
  return (await client.request<InvokeBatchResponse>(path + query, { body: { calls } })).body
}

t.test('a failed call has the end of its log, such as its traceback, in its details where that is asked for', async t => {
  const { results } = await post('?details=log')
  t.match(results, [
    { error: { details: { log: ['first', 'last'] } } },
    {
      error: {
        message: 'ValueError: the well is dry',
        details: { type: 'ValueError', log: [/^Traceback/, /File "well\.py", line 6/, /raise/, 'ValueError: the well is dry'] }
      }
    },
    { error: { code: 'UNKNOWN_TOOL' } },
    { ok: true }
  ])
})

t.test('an error has lines of the log only where the caller asks for them, and the model\'s message never has them', async t => {
  const [plain, asked] = [await post(''), await post('?details=log')]
  t.notMatch(JSON.stringify(plain), /Traceback|"log"/)
  t.same(asked.tool_messages, plain.tool_messages)
})

t.test('a batch that is streamed has the log as well', async t => {
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const stream = await openReader(t, `${url}${path}?details=log`, { key: testKeys.admin, body: { calls } })
  await stream.ended()
  t.match(stream.text(), /"log":\["first","last"\]/)
})

t.test('any other details are refused', async t => {
  t.match(await client.request(`${path}?details=all`, { body: { calls } }), { status: 400, body: { error: { message: "'details' must be log" } } })
})
