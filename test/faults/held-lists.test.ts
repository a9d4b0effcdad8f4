import t from 'tap'
import { read, reach, submit } from '../jobs/submission.ts'
import { createClient, type Client } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { atEveryCommand, casesFrom, startDoomed, together } from './doomed-process.ts'
import { runsOf } from './stamp.ts'

/*
 * A process is killed in the middle of a list of questions. The tool isn't idempotent: what it does after the last answer is counted.
 */

const ask = JSON.stringify({ $ask: ['left', 'right', 'middle'].map(name => ({ name, text: `${name}?`, schema: { type: 'object' } })) })
const service = await createService(t, {
  files: {
    'tools/bin/ask': `#!/bin/sh
read -r line
mark=\${line#*\\"mark\\":\\"}; mark=\${mark%%\\"*}
if [ -z "$TOOLYARD_ANSWER" ]; then echo '${ask}'; exit; fi
echo "$mark" >> runs
paste -sd, "$TOOLYARD_ANSWER" | sed 's/.*/{"said":[&]}/'
`
  },
  tools: [{ name: 'ask', schema: { type: 'object', properties: { mark: { type: 'string' } } }, command: ['./tools/bin/ask'], permissions: ['write_files'], asks: true }],
  env: { MAX_QUEUES: '1000' },
  workers: 0
})
const { client } = service
const runs = (mark: string): number => runsOf(service).get(mark) ?? 0
const all = { status: 'succeeded', attempts: 2, result: { said: [{ x: 1 }, { x: 2 }, { x: 3 }] } }

async function asks (queue: string): Promise<string> {
  return (await submit(client, { type: 'agentcli.ask', queue, input: { mark: queue } })).id
}

async function answer (to: Client, id: string, number: number): Promise<number> {
  return (await to.request(`/v1/jobs/${id}/answer`, { body: { answer: { x: number }, number } })).status
}

async function openOf (id: string): Promise<number[]> {
  const { question } = await read(client, id)
  return question === undefined ? [] : [question, ...question.more ?? []].map(({ number }) => number)
}

for (const [last, before] of [[1, []], [2, [3, 1]]] as const) {
  const which = last === 1 ? 'first' : 'last'
  t.test(`promise 12 an API process that is killed at any command of the ${which} answer to a list has taken it, or not, and the tool goes on once`, { timeout: 300_000 }, async t => {
    const worker = await service.startWorker()
    const commands = await atEveryCommand(which, async (queue, at, side, about) => {
      const [id, doomed] = [await asks(queue), await startDoomed(t, service, 'api', queue)]
      await reach(client, id, 'input_required')
      for (const number of before) t.equal(await answer(client, id, number), 200, about)
      doomed.arm(at, side, `{${queue}}`)
      await answer(createClient(doomed.process.address, testKeys.admin), id, last).catch(() => {})
      const open = await openOf(id)
      t.same([1, 2, 3].filter(number => !open.includes(number) && number !== last), open.length === 0 ? [1, 3] : before.toSorted(), about)
      // Also of the one that was taken: the same again changes nothing.
      for (const number of last === 1 ? [2, 1, 3] : open) t.equal(await answer(client, id, number), 200, `${about}, answer ${number}`)
      t.match(await reach(client, id, 'succeeded', 'failed'), all, about)
      t.equal(runs(queue), 1, about)
      await doomed.process.stop('SIGKILL')
      return doomed.wasKilled()
    })
    t.ok(commands > 1, `${commands} commands`)
    await worker.stop()
  })
}

t.test('promise 12 answers that come as soon as a worker has asked, which is killed then at any command, are kept, and the tool goes on once', { timeout: 400_000 }, async t => {
  for (let first = 1, areAllKilled = true; areAllKilled; first += together / 2) {
    const cases = await Promise.all(casesFrom(first).map(async ({ at, side }) => {
      const queue = `parks-${at}-${side}`
      await client.request(`/v1/queues/${queue}`, { method: 'PATCH', body: { paused: true } })
      return { at, side, queue, id: await asks(queue), doomed: await startDoomed(t, service, 'worker', queue) }
    }))
    const noted = new Map<string, number[]>()
    await Promise.all(cases.map(async ({ at, side, queue, id, doomed }) => {
      doomed.arm(at, side, `:${id}`)
      await client.request(`/v1/queues/${queue}`, { method: 'PATCH', body: { paused: false } })
      await waitFor('it is killed, or has asked', async () => doomed.wasKilled() || (await openOf(id)).length === 3)
      // Before it is parked, or after: the other two come to the worker that rescues it.
      if (await answer(client, id, 2) === 200) noted.set(id, [2])
    }))
    areAllKilled = cases.every(({ doomed }) => doomed.wasKilled())
    await Promise.all(cases.map(async ({ doomed }) => await doomed.process.stop('SIGKILL')))
    const rescuer = await service.startWorker()
    for (const { at, side, queue, id } of cases) {
      const about = `parks, ${side} command ${at}`
      const { status, error } = await waitFor(`${about}: it has asked, or ended`, async () => {
        const job = await read(client, id)
        return ['input_required', 'failed'].includes(job.status) && job
      }, 30_000)
      t.equal(runs(queue), 0, about)
      if (status === 'failed') {
        t.match({ code: error?.code, noted: noted.get(id) }, { code: 'WORKER_LOST', noted: undefined }, about)
        continue
      }
      const open = await openOf(id)
      t.same(open, noted.has(id) ? [1, 3] : [1, 2, 3], about)
      t.same(await Promise.all(open.map(number => answer(client, id, number))), open.map(() => 200), about)
      t.match(await reach(client, id, 'succeeded', 'failed'), all, about)
      t.equal(runs(queue), 1, about)
    }
    await rescuer.stop('SIGKILL')
  }
})
