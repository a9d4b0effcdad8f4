import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { startRedisProcess } from '../support/redis-process.ts'
import { toolyardProgram as program } from '../cli/toolyard.ts'
import { listening } from '../support/listening.ts'

const redis = await startRedisProcess(t)
const taken = createServer()
await listening(t, taken)
const port = String((taken.address() as AddressInfo).port)

const inUse = (setting: string): RegExp => new RegExp(`^toolyard (?:api|worker): port ${port} on 127\\.0\\.0\\.1 is in use\\. .* ${setting}=\\d+\\n$`)

const cases: Array<[what: string, args: string[], env: Record<string, string>, message: RegExp]> = [
  ['the API, when its port is taken', ['api'], { PORT: port }, inUse('PORT')],
  ['the API, when the port of its metrics is taken', ['api'], { PORT: '0', METRICS_PORT: port }, inUse('METRICS_PORT')],
  ['a worker, when the port of its metrics is taken', ['worker'], { METRICS_PORT: port }, inUse('METRICS_PORT')],
  ['several workers, when the port of their metrics is taken', ['worker', '--processes', '2'], { METRICS_PORT: port }, inUse('METRICS_PORT')],
  ['the API, when its address is not of this machine', ['api'], { PORT: '0', HOST: '192.0.2.1' }, /^toolyard api: can't listen on 192\.0\.2\.1:0 \(EADDRNOTAVAIL\)\. HOST must be /],
  ['the API, when its port is taken and Redis is away, with a word about both', ['api'], { PORT: port, REDIS_URL: 'redis://127.0.0.1:1' }, /is in use\. .* PORT=\d+\. Redis can't be used either \(.+\): see whether it runs, and whether REDIS_URL is right\n$/],
  ['a worker, whose workspace can\'t be made', ['worker'], { WORKSPACE_DIR: 'x'.repeat(300) }, /^toolyard worker: Toolyard can't start with these settings:\n {2}WORKSPACE_DIR can't be made \(ENAMETOOLONG.*\): .*\n$/],
  ['a worker, without the sandbox that it must have', ['worker'], { SANDBOX: 'require', PATH: '/nonexistent' }, /^toolyard worker: SANDBOX=require, but /]
]

for (const [what, args, env, message] of cases) {
  t.test(`a part that can't start ends by itself with 1: ${what}`, async t => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: t.testdir(),
      env: { PATH: process.env['PATH'], HOST: '127.0.0.1', API_KEY: 'k', REDIS_URL: `redis://127.0.0.1:${redis.port}`, LOG_LEVEL: 'silent', ...env },
      stdio: ['ignore', 'ignore', 'pipe']
    })
    t.teardown(() => { child.kill('SIGKILL') })
    const printed = text(child.stderr)
    t.same(await once(child, 'exit'), [1, null])
    t.match(await printed, message)
  })
}

t.test('a start that bad settings stop tells of the lines of .env that set nothing, which may be why', async t => {
  const child = spawn(process.execPath, [program, 'start'], {
    cwd: t.testdir({ '.env': 'PORT="4011\nHOST 127.0.0.1\n' }), env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'ignore', 'pipe']
  })
  t.teardown(() => { child.kill('SIGKILL') })
  const printed = text(child.stderr)
  t.same(await once(child, 'exit'), [1, null])
  t.match(await printed, /^warning: PORT in .*\.env begins with a quote that is never closed.*\nwarning: .*\.env:2 sets nothing.*\ntoolyard start: Toolyard can't start with these settings:\n {2}PORT must be an integer 0\.\.65535\n$/)
})
