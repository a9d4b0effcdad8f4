import { closeMs, openTracer, type TraceSettings } from '@toolyard/runtime/traces'
import t from 'tap'
import { startCollector } from '../support/collector.ts'
import { waitFor } from '../support/condition.ts'

const settings = (url: string): TraceSettings => ({
  url, protocol: 'http/json', headers: {}, timeoutMs: 60_000, resource: {}, sampler: { kind: 'always_on', parentBased: true, ratio: 1 }
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
