import { closeMs, openTracer, type TraceSettings } from '@toolyard/runtime/traces'
import t from 'tap'
import { startCollector } from '../support/collector.ts'
import { waitFor } from '../support/condition.ts'

const settings = (url: string): TraceSettings => ({
  part: 'api', url, protocol: 'http/json', headers: {}
})

t.test('a collector that never answers, is away or answers endlessly only loses spans', async t => {
  const silent = await startCollector(t, () => {})
  const huge = await startCollector(t, response => {
    const chunk = Buffer.alloc(65_536, 'x')
    const more = (): void => { while (!response.destroyed && response.write(chunk)); if (!response.destroyed) response.once('drain', more) }
    response.on('error', () => {})
    more()
  })
  for (const url of [`${silent.url}/v1/traces`, `${huge.url}/v1/traces`, 'http://127.0.0.1:1/v1/traces']) {
    const tracer = await openTracer(settings(url), () => {})
    if (tracer === undefined) throw new Error('no tracer')
    for (let at = 0; at < 5_000; at++) tracer.start('span', {}).end()
    if (url.startsWith(silent.url)) await waitFor('the first batch', () => silent.texts.length > 0)
    const begun = performance.now()
    await tracer.close()
    t.ok(performance.now() - begun < closeMs + 3_000, `closing is bounded with ${url}`)
  }
})

t.test('the name of the service, its attributes and which traces are sent are read from the standard variables', async t => {
  const collector = await startCollector(t)
  const standard = { OTEL_SERVICE_NAME: 'mine', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test,service.name=other', OTEL_TRACES_SAMPLER: 'parentbased_always_off' }
  Object.assign(process.env, standard)
  t.teardown(() => { for (const name of Object.keys(standard)) delete process.env[name] })
  const tracer = await openTracer(settings(`${collector.url}/v1/traces`), () => {})
  if (tracer === undefined) throw new Error('no tracer')
  tracer.start('not sent', {}).end()
  tracer.start('sent', { parent: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' } }).end()
  await tracer.close()
  t.match(collector.spans, [{ name: 'sent', service: 'mine' }])
  t.equal(collector.spans.length, 1)
  t.match(collector.texts.join(''), /deployment\.environment/)
})
