import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createService } from '../../support/service.ts'
import { rateOf, timeOf, type Sides } from '../frame/measures.ts'
import type { Stage } from '../frame/row.ts'
import { p50, throughput } from '../sample.ts'
import { serviceCalls } from './service-calls.ts'

/** Takes what it is sent, and tells its port. */
const sink = `
const server = require('node:http').createServer((request, response) => { request.resume().on('end', () => { response.end() }) })
server.listen(0, '127.0.0.1', () => { console.log(server.address().port) })
`

/** A service that sends spans of everything to a collector, beside one without traces. */
export const traced: Stage = {
  title: 'OpenTelemetry on, beside off',
  rows: {
    'otel-sync': { what: 'one sync call after the other with spans, p50', yardstick: 'Toolyard without spans', unit: 'ms' },
    'otel-batch': { what: 'batches of 20 with spans, 8 in flight', yardstick: 'Toolyard without spans', unit: 'calls/s' }
  },
  open: async ({ cleanup, size }) => {
    const collector = spawn(process.execPath, ['-e', sink], { stdio: ['ignore', 'pipe', 'inherit'] })
    cleanup.teardown(() => { collector.kill() })
    const [port] = await once(collector.stdout, 'data') as [Buffer]
    const start = async (env: Record<string, string>): Promise<ReturnType<typeof serviceCalls>> => serviceCalls(await createService(cleanup, { env: { LOG_LEVEL: 'warn', ...env } }))
    const [off, on] = [await start({}), await start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port.toString().trim()}` })]
    for (const { batch } of [off, on]) {
      await throughput(size(120, 5), 8, 20, async () => await batch(20))
      await p50(size(120, 5), async () => await batch(1))
    }
    const sides = (calls: number): Sides => ({ bare: async () => await off.batch(calls), ours: async () => await on.batch(calls) })
    return {
      'otel-sync': timeOf(size(75, 5), sides(1)),
      'otel-batch': rateOf({ runs: size(24, 3), inFlight: 8, units: 20 }, sides(20))
    }
  }
}
