import t from 'tap'
import { startCollector, tracedTo, type Collector, type ReceivedSpan } from '../support/collector.ts'
import { waitFor } from '../support/condition.ts'
import { hasPython } from '../support/python.ts'
import { createService } from '../support/service.ts'
import { traceEntries, traceFiles, traceManifests } from './programs.ts'

const caller = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' }
const headers = { traceparent: `00-${caller.trace}-${caller.span}-01`, tracestate: 'vendor=opaque' }

/** The span of this name, once it has come. */
async function spanOf (collector: Collector, name: string, below?: ReceivedSpan): Promise<ReceivedSpan> {
  return await waitFor(`the span ${name}`, () => collector.spans.find(span => (
    span.name === name && (below === undefined || span.parentSpanId === below.spanId)
  )))
}

const collector = await startCollector(t)
const service = await createService(t, {
  files: traceFiles, tools: traceEntries, manifests: traceManifests, env: tracedTo(collector)
})
const { client } = service

t.test('a request, its calls, their jobs and the span of a tool are one connected trace', async t => {
  const { body } = await client.request<{ results: Array<{ job_id: string, output: Record<string, string> }> }>('/v1/agent-tools/invoke-batch', {
    headers,
    body: {
      calls: [
        { call_id: 'call_1', name: 'traced', arguments: { collector: collector.url } },
        { call_id: 'call_2', name: 'failing', arguments: {} },
        { call_id: 'call_3', name: 'nowhere', arguments: {} }
      ]
    }
  })
  const [first] = body.results
  const request = await spanOf(collector, 'POST /v1/agent-tools/invoke-batch')
  const call = await spanOf(collector, 'call traced', request)
  const job = await spanOf(collector, 'job traced', call)
  const execution = await spanOf(collector, 'execute_tool traced', job)
  const own = await spanOf(collector, 'own work', execution)
  const stages = await Promise.all([
    spanOf(collector, 'wait', job), spanOf(collector, 'take', job), spanOf(collector, 'sandbox', execution), spanOf(collector, 'run', execution)
  ])
  const all = [request, call, job, execution, own, ...stages]
  t.ok(all.every(span => span.traceId === caller.trace), 'all are of the caller\'s trace')
  t.equal(request.parentSpanId, caller.span)
  t.equal(request.traceState, 'vendor=opaque')
  t.strictSame(all.map(span => span.service).filter((name, index, names) => names.indexOf(name) === index), ['toolyard-api', 'toolyard-worker', 'the tool'])
  t.match(request, { kind: 2, attributes: { 'http.request.method': 'POST', 'http.route': '/v1/agent-tools/invoke-batch', 'http.response.status_code': 200 } })
  t.match(execution.attributes, {
    'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'traced', 'gen_ai.tool.call.id': 'call_1', 'toolyard.job.id': first?.job_id
  })
  t.equal(call.attributes['toolyard.job.id'], first?.job_id)
  t.equal(first?.output['TRACEPARENT'], `00-${caller.trace}-${execution.spanId}-01`)
  t.equal(first?.output['TRACESTATE'], 'vendor=opaque')
  t.ok(all.every(span => span.endMs >= span.startMs), 'no span ends before it begins')

  const failed = await spanOf(collector, 'execute_tool failing')
  t.match(failed, { error: 'TOOL_FAILED', attributes: { 'error.type': 'TOOL_FAILED' } })
  t.equal((await spanOf(collector, 'call failing', request)).error, 'TOOL_FAILED')
  t.match(await spanOf(collector, 'execute_tool', request), { error: 'UNKNOWN_TOOL', attributes: { 'gen_ai.tool.call.id': 'call_3' } })
  t.notMatch(collector.texts.join(''), /a secret of the tool/, 'no text of a tool is in a span')
})

t.test('lines of the log have the ids of trace, request, job and call', async t => {
  const id = (span: ReceivedSpan): string => String(span.attributes['toolyard.request.id'])
  const request = await spanOf(collector, 'POST /v1/agent-tools/invoke-batch')
  const lines = async (output: () => Promise<string>): Promise<Array<Record<string, unknown>>> => (
    (await output()).split('\n').filter(line => line.includes(id(request))).map(line => JSON.parse(line) as Record<string, unknown>)
  )
  const worker = await waitFor('a line of the worker', async () => (await lines(async () => await service.workers[0]?.output() ?? '')).find(line => line['tool'] === 'traced'))
  t.match(worker, { trace_id: caller.trace, reqId: id(request), callId: 'call_1', jobId: String })
  const api = await waitFor('a line of the API', async () => (await lines(service.api.output)).find(line => line['msg'] === 'request'))
  t.match(api, { trace_id: caller.trace, span_id: request.spanId, reqId: id(request) })
  const calls = api['calls'] as Array<Record<string, unknown>>
  t.match(calls.find(call => call['callId'] === 'call_1'), { jobId: worker['jobId'] })
})

t.test('a malformed traceparent is ignored, and a new trace begins', async t => {
  const answer = await client.request('/v1/tools/traced', { method: 'POST', headers: { traceparent: `00-${'0'.repeat(32)}-${caller.span}-01` }, body: {} })
  t.equal(answer.status, 200)
  const request = await spanOf(collector, 'POST /v1/tools/:name')
  t.equal(request.parentSpanId, '')
  t.equal((answer.body['TRACEPARENT'] as string).slice(3, 35), request.traceId)
})

t.test('a skill, a Python tool and a job are of the trace of their request', { skip: hasPython() ? false : 'python3 is not installed' }, async t => {
  const { body: skill } = await client.request('/v1/tools/show_trace', { headers, body: {} })
  t.match(skill, new RegExp(`^00-${caller.trace}-[0-9a-f]{16}-01\n$`))
  const { body: python } = await client.request('/v1/tools/traced_python', { headers, body: {} })
  t.match(python, { TRACEPARENT: new RegExp(`^00-${caller.trace}-`), TRACESTATE: 'vendor=opaque' })
  const second = await client.request('/v1/tools/traced_python', { body: {} })
  t.not(String(second.body['TRACEPARENT']).slice(3, 35), caller.trace, 'each call has its own')
  const submitted = await client.request('/v1/jobs', { headers, body: { type: 'agentcli.failing', input: {} } })
  t.equal(submitted.status, 201, submitted.text)
  const request = await spanOf(collector, 'POST /v1/jobs')
  const job = await spanOf(collector, 'job failing', await spanOf(collector, 'call failing', request))
  t.equal(job.traceId, caller.trace)
})
