import { orElse } from '@toolyard/contract/terms'
import { closeSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AuditEntry } from '@toolyard/executors'
import t, { type Test } from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox, type BoxedRun, type BoxedTools } from '../sandbox/boxed-tools.ts'
import { descendantsOf, waitingPrograms } from '../sandbox/running.ts'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'

const skip = await withoutBox()
/** When the box of a call was made, in ticks since the machine started, and the network that it is in. */
const look = 'cut -d" " -f22 /proc/1/stat; readlink /proc/self/ns/net'
const secret = 'value-of-the-secret-0123456789'

interface Place {
  tools: BoxedTools
  /** An entry of a list, for the host that is there. */
  host: string
  /** The host's authorization headers. */
  seen: Array<string | undefined>
  entries: AuditEntry[]
}

async function place (t: Test): Promise<Place> {
  const seen: Array<string | undefined> = []
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.end('reached')
  })
  const port = await listening(t, server)
  const entries: AuditEntry[] = []
  const tools = await boxedTools(t, {
    http: { privateHosts: ['api.test', 'other.test'], lookup: (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) } },
    audit: { record: entry => { entries.push(entry) }, flush: async () => { await Promise.resolve() } },
    secrets: { open: async () => await Promise.resolve(new Map([['api', secret]])) }
  })
  return { tools, host: `api.test:${port}`, seen, entries }
}

/** The ticks of the clock that `look` reads. */
function ticks (): number {
  return Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 100
}

async function boxOf (tools: BoxedTools, run: Omit<BoxedRun, 'program'>): Promise<{ born: number, network: string }> {
  const [born = '', network = ''] = String(outputOf(await tools.shell(look, run))).split('\n')
  return { born: Number(born), network }
}

/** Processes that wait in boxes, by their network. */
function waitingIn (network: string): number[] {
  return waitingPrograms().filter(pid => orElse(() => readlinkSync(`/proc/${pid}/ns/net`) === network, false))
}

/** Waits for a process that waits in a network, and keeps the name of it: the system would give it to the next network. */
async function keepName (t: Test, network: string): Promise<void> {
  const [pid] = await waitFor('a box waits', () => waitingIn(network).length > 0 && waitingIn(network))
  const file = openSync(`/proc/${pid}/ns/net`, 'r')
  t.teardown(() => { closeSync(file) })
}

/** Lets the clock go on, so that a box that is made now is younger than those that wait. */
async function nextTick (): Promise<number> {
  const now = ticks() + 2
  await waitFor('the clock goes on', () => ticks() > now)
  return now
}

void t.test('a call in a network is served by a box that was made before it, in the network of its tenant', { skip }, async t => {
  const { tools, host } = await place(t)
  const run = { network: [host], tenant: 'one' }
  const first = await boxOf(tools, run)
  const boxes = []
  for (let call = 0; call < 3; call++) {
    await tools.stock(run)
    const now = await nextTick()
    const { born, network } = await boxOf(tools, run)
    t.ok(born <= now, `${born} is before ${now}`)
    t.equal(network, first.network)
    boxes.push(born)
  }
  t.equal(new Set(boxes).size, 3, 'and no box serves two')
})

void t.test('a box that waits in a network serves no other tenant, list of hosts, tool with secrets, and nobody without a network', { skip }, async t => {
  const { tools, host } = await place(t)
  const own = { network: [host], tenant: 'one' }
  const uses = { TOKEN: { secret: 'api', as: 'header', hosts: [host] } } as const
  const { network } = await boxOf(tools, own)
  await tools.stock(own)
  const now = await nextTick()
  for (const [who, other] of Object.entries<Omit<BoxedRun, 'program'>>({
    'another tenant': { ...own, tenant: 'two' },
    'the operator': { network: [host] },
    'another list': { ...own, network: [host, 'other.test'] },
    'with secrets': { ...own, uses },
    'with secrets, another key': { ...own, uses, keyName: 'second' },
    'without a network': { tenant: 'one' },
    'without any host': { ...own, network: [] }
  })) {
    const box = await boxOf(tools, other)
    t.ok(box.born > now, `${who}: its box is made for it`)
    t.not(box.network, network, who)
  }
  t.ok((await boxOf(tools, own)).born <= now, 'it has waited for its own')
})

void t.test('from a box that was made ahead, listed hosts are reached and others denied, to the call that asked', { skip }, async t => {
  const { tools, host, entries } = await place(t)
  const run = { network: [host] }
  await tools.stock(run)
  const now = await nextTick()
  const ask = (port: number): string => `${look}; curl -s http://${host}/; curl -s http://other.test:${port}/; sleep 0.2`
  const outputs = (await Promise.all([1, 2].map(async call => await tools.shell(ask(call), { ...run, jobId: `job-${call}` })))).map(outcome => String(outputOf(outcome)))
  t.ok(outputs.some(output => Number.parseInt(output) <= now), 'one of them was made ahead')
  for (const [index, output] of outputs.entries()) {
    t.match(output, new RegExp(`reachedegress: denied other\\.test:${index + 1}, add it to "network"`))
  }
  const denied = entries.filter(({ egress }) => egress?.decision === 'denied')
  t.strictSame(denied.map(({ job, egress }) => [job, egress?.port]).sort(), [['job-1', 1], ['job-2', 2]])
})

void t.test('no secret, placeholder or name of a call stands in a box that waits; its call has its own', { skip }, async t => {
  const { tools, host, seen } = await place(t)
  for (const as of ['header', 'env'] as const) {
    const run = { network: [host], uses: { TOKEN: { secret: 'api', as, hosts: [host] } as NonNullable<BoxedRun['uses']>[string] } }
    const script = `${look}; curl -s -H "authorization: $TOKEN" http://${host}/; echo "$TOKEN" | cksum`
    const output = String(outputOf(await tools.shell(script, run)))
    const network = output.split('\n')[1] ?? ''
    const waiting = await waitFor('a box waits', () => waitingIn(network).length > 0 && waitingIn(network))
    const box = waiting.flatMap(pid => [pid, Number(/\nPPid:\t(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])])
    for (const pid of box) {
      const said = ['environ', 'cmdline'].map(name => readFileSync(`/proc/${pid}/${name}`, 'latin1')).join('\0')
      t.notMatch(said, /tyd_placeholder_[0-9a-f]|call:[0-9a-f]|PROXY=/)
      t.notOk(said.includes(secret))
    }
    const now = await nextTick()
    const again = String(outputOf(await tools.shell(script, run)))
    t.ok(Number.parseInt(again) <= now, 'it was made ahead')
    t.equal(again.split('\n').at(-1) === output.split('\n').at(-1), as === 'env', 'each call has a placeholder of its own')
  }
  t.strictSame(seen, [secret, secret, secret, secret])
})

void t.test('boxes that wait end with their network, when others take its place', { skip }, async t => {
  const { tools, host } = await place(t)
  const { network } = await boxOf(tools, { network: [host], tenant: 'first' })
  await keepName(t, network)
  for (let other = 0; other < 16; other++) outputOf(await tools.shell('true', { network: [host], tenant: `other-${other}` }))
  await waitFor('it is gone', () => waitingIn(network).length === 0)
  t.equal(outputOf(await tools.shell(`curl -s http://${host}/`, { network: [host], tenant: 'first' })), 'reached')
})

void t.test('boxes that wait end when the process of their network dies, and none is made in it any more', { skip }, async t => {
  const { tools, host } = await place(t)
  const before = descendantsOf(process.pid)
  const { network } = await boxOf(tools, { network: [host] })
  const [owner = 0] = descendantsOf(process.pid).filter(pid => !before.includes(pid))
  const call = tools.shell('echo begun >&2; sleep 60', { network: [host] })
  await waitFor('it runs', () => tools.logged.includes('begun'))
  await keepName(t, network)
  process.kill(owner, 'SIGKILL')
  t.match(await call, { ok: false, error: { code: 'WORKER_LOST' } })
  await waitFor('it is gone', () => waitingIn(network).length === 0)
  const next = await boxOf(tools, { network: [host] })
  t.not(next.network, network)
  await tools.stock({ network: [host] })
  t.strictSame(waitingIn(network), [])
  t.equal(outputOf(await tools.shell(`curl -s http://${host}/`, { network: [host] })), 'reached')
})
