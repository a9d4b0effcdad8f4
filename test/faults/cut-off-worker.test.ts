import { orElse } from '@toolyard/contract/terms'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { cancel, reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { startNetworkProxy, type NetworkProxy } from '../support/network-proxy.ts'
import { createService } from '../support/service.ts'

/*
 * One worker is cut off from Redis while the API and another worker are not. A run writes a line each 50 ms as long as it
 * lives; the runs of one mark write into one file, which has them in the order of their lives.
 */

const breathing = `#!/bin/sh
read -r line
mark=\${line#*\\"mark\\":\\"}; mark=\${mark%%\\"*}
read -r run < /proc/sys/kernel/random/uuid
n=0
while [ $n -lt 400 ] && ! [ -e "enough-$mark" ]; do echo "$run" >> "lives-$mark"; n=$((n + 1)); sleep 0.05; done
echo '{"done":true}'
`
const tool = (name: string, rest: object = {}): object => ({
  name, schema: { type: 'object', properties: { mark: { type: 'string' } }, required: ['mark'] }, command: ['./tools/bin/breathe'], ...rest
})

/** Faults of a worker's network; the last takes answers longer than a lock lasts. */
const faults: ReadonlyArray<readonly [title: string, fault: (network: NetworkProxy) => void]> = [
  ['cut', network => { network.cut() }],
  ['held', network => { network.hold() }],
  ['slow', network => { network.slow(2_200) }]
]

const service = await createService(t, { tools: [tool('again', { idempotent: true }), tool('once')], files: { 'tools/bin/breathe': breathing }, workers: 0 })
const network = await startNetworkProxy(t, [{ to: { path: service.redis.socket } }])
await service.startWorker({ REDIS_URL: `redis://127.0.0.1:${String(network.ports[0])}` })
const other = await service.startWorker()

/** Begins a run on the first worker; gives the id of the job when it runs. */
async function begin (name: string, mark: string): Promise<string> {
  other.child.kill('SIGSTOP')
  const { id } = await submit(service.client, { type: `agentcli.${name}`, input: { mark } })
  await waitFor(`${mark} runs`, () => lives(mark).length > 5)
  other.child.kill('SIGCONT')
  return id
}

/** The names of the runs of a mark, each as often as it wrote. */
function lives (mark: string): string[] {
  return orElse(() => readFileSync(join(service.dir, 'workspace', `lives-${mark}`), 'utf8').trim().split('\n'), [])
}

const runs = (mark: string): string[] => [...new Set(lives(mark))]

/** Lets the runs of a mark end. */
const enough = async (mark: string): Promise<void> => { await writeFile(join(service.dir, 'workspace', `enough-${mark}`), '') }

for (const [title, fault] of faults) {
  t.test(`promise 2 an idempotent call of a worker whose network is ${title} ends before another worker runs it again`, async t => {
    const mark = `again-${title}`
    const id = await begin('again', mark)
    fault(network)
    await waitFor('another worker runs it', () => runs(mark).length === 2)
    const [first = '', second = ''] = runs(mark)
    await waitFor('it has run for a while', () => lives(mark).filter(run => run === second).length > 40)
    t.ok(lives(mark).lastIndexOf(first) < lives(mark).indexOf(second), 'the first had ended')
    network.mend()
    await enough(mark)
    t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded' })
    t.equal(runs(mark).length, 2, 'it is run no third time')
  })

  t.test(`promise 2 a call that may run only once has ended when it is told as lost, where the network of its worker is ${title}`, async t => {
    const mark = `once-${title}`
    const id = await begin('once', mark)
    fault(network)
    t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'failed', error: { code: 'WORKER_LOST' } })
    const ended = lives(mark).length
    const later = await submit(service.client, { type: 'agentcli.again', input: { mark: `${mark}-later` } })
    await waitFor('a later call has run for a while', () => lives(`${mark}-later`).length > 40)
    t.equal(lives(mark).length, ended)
    network.mend()
    await enough(`${mark}-later`)
    t.match(await reach(service.client, later.id, 'succeeded', 'failed'), { status: 'succeeded' })
    t.equal(lives(mark).length, ended)
  })
}

t.test('promise 3 a call that is cancelled while its worker is cut off is ended by that worker', async t => {
  const id = await begin('again', 'cancelled')
  network.hold()
  await cancel(service.client, id)
  const later = await submit(service.client, { type: 'agentcli.again', input: { mark: 'later' } })
  await waitFor('a later call has run for longer than a lock lasts', () => lives('later').length > 90)
  const ended = lives('cancelled').length
  await waitFor('it has run for longer', () => lives('later').length > 140)
  t.equal(lives('cancelled').length, ended)
  network.mend()
  await enough('later')
  await reach(service.client, later.id, 'succeeded')
  t.match(await reach(service.client, id, 'cancelled', 'failed'), { status: 'cancelled' })
})

t.test('a call whose worker hears of Redis late, but in time, goes on', async t => {
  const id = await begin('once', 'late')
  network.slow(500)
  await waitFor('it has run for long', () => lives('late').length > 120)
  network.mend()
  await enough('late')
  t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded' })
  t.equal(runs('late').length, 1)
})
