import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Cleanup } from '../support/cleanup.ts'
import { benchMainJob } from './main-job.ts'
import type { Row } from './report.ts'

/** Takes what it is sent, and tells its port. */
const sink = `
const server = require('node:http').createServer((request, response) => { request.resume().on('end', () => { response.end() }) })
server.listen(0, '127.0.0.1', () => { console.log(server.address().port) })
`

/** The same as `benchMainJob`, with spans of everything sent to a collector in a process of its own. */
export async function benchTracedJob (cleanup: Cleanup): Promise<Row[]> {
  const collector = spawn(process.execPath, ['-e', sink], { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanup.teardown(() => { collector.kill() })
  const [port] = await once(collector.stdout, 'data') as [Buffer]
  return await benchMainJob(cleanup, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port.toString().trim()}` })
}
