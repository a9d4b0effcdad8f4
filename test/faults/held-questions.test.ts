import t from 'tap'
import { read, reach, submit } from '../jobs/submission.ts'
import { createClient, type Client } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { atEveryCommand, casesFrom, startDoomed, together } from './doomed-process.ts'
import { runsOf } from './stamp.ts'

/*
 * A process is killed at each of its commands to Redis between a question of a tool and the end of its job. The tool isn't
 * idempotent: what it does after the answer is counted.
 */

const service = await createService(t, {
  files: {
    'tools/bin/book': `#!/bin/sh
read -r line
mark=\${line#*\\"mark\\":\\"}; mark=\${mark%%\\"*}
if [ -z "$TOOLYARD_ANSWER" ]; then echo '{"$ask":{"text":"Which?","schema":{"type":"object"}}}'; exit; fi
echo "$mark" >> runs
cat "$TOOLYARD_ANSWER"
`
  },
  tools: [{ name: 'book', schema: { type: 'object', properties: { mark: { type: 'string' } } }, command: ['./tools/bin/book'], permissions: ['write_files'], asks: true }],
  env: { MAX_QUEUES: '1000' },
  workers: 0
})
const { client } = service
const runs = (mark: string): number => runsOf(service).get(mark) ?? 0

async function book (queue: string): Promise<string> {
  return (await submit(client, { type: 'agentcli.book', queue, input: { mark: queue } })).id
}

async function answer (to: Client, id: string): Promise<number> {
  return (await to.request(`/v1/jobs/${id}/answer`, { body: { answer: { seat: 1 }, number: 1 } })).status
}

t.test('promise 12 an API process that is killed at any command of an answer has taken it, or not, and the tool goes on once', { timeout: 300_000 }, async t => {
  const worker = await service.startWorker()
  const commands = await atEveryCommand('answer', async (queue, at, side, about) => {
    const [id, doomed] = [await book(queue), await startDoomed(t, service, 'api', queue)]
    await reach(client, id, 'input_required')
    doomed.arm(at, side, `{${queue}}`)
    await answer(createClient(doomed.process.address, testKeys.admin), id).catch(() => {})
    const { status } = await read(client, id)
    if (status === 'input_required') t.equal(await answer(client, id), 200, about)
    t.match(await reach(client, id, 'succeeded', 'failed'), { status: 'succeeded', result: { seat: 1 } }, about)
    t.equal(runs(queue), 1, about)
    await doomed.process.stop('SIGKILL')
    return doomed.wasKilled()
  })
  t.ok(commands > 1, `${commands} commands`)
  await worker.stop()
})

t.test('promise 12 when a worker is killed at any command of a call that asks, it has asked, or is lost, and goes on once', { timeout: 400_000 }, async t => {
  const asked = new Set<string>()
  for (let first = 1, areAllKilled = true; areAllKilled; first += together / 2) {
    const cases = await Promise.all(casesFrom(first).map(async ({ at, side }) => {
      const queue = `asks-${at}-${side}`
      await client.request(`/v1/queues/${queue}`, { method: 'PATCH', body: { paused: true } })
      return { at, side, queue, id: await book(queue), doomed: await startDoomed(t, service, 'worker', queue) }
    }))
    await Promise.all(cases.map(async ({ at, side, queue, id, doomed }) => {
      doomed.arm(at, side, `:${id}`)
      await client.request(`/v1/queues/${queue}`, { method: 'PATCH', body: { paused: false } })
      await waitFor('it is killed, or has asked', async () => doomed.wasKilled() || (await read(client, id)).status === 'input_required')
    }))
    areAllKilled = cases.every(({ doomed }) => doomed.wasKilled())
    await Promise.all(cases.map(async ({ doomed }) => await doomed.process.stop('SIGKILL')))
    for (const { id } of cases) if ((await read(client, id)).status === 'input_required') asked.add(id)
    const rescuer = await service.startWorker()
    for (const { at, side, queue, id } of cases) {
      const about = `asks, ${side} command ${at}`
      const { status, error } = await waitFor(`${about}: it has asked, or ended`, async () => {
        const job = await read(client, id)
        return ['input_required', 'failed'].includes(job.status) && job
      }, 30_000)
      t.equal(runs(queue), 0, about)
      if (status === 'failed') { t.match({ code: error?.code, hadAsked: asked.has(id) }, { code: 'WORKER_LOST', hadAsked: false }, about); continue }
      t.equal(await answer(client, id), 200, about)
      t.match(await reach(client, id, 'succeeded', 'failed'), { status: 'succeeded', result: { seat: 1 } }, about)
      t.equal(runs(queue), 1, about)
    }
    await rescuer.stop('SIGKILL')
  }
})

t.test('promise 12 when a worker is killed at any command of an answered call, it goes on once, or its state says that its worker was lost', { timeout: 400_000 }, async t => {
  for (let first = 1, areAllKilled = true; areAllKilled; first += together / 2) {
    const asker = await service.startWorker()
    const cases = await Promise.all(casesFrom(first).map(async ({ at, side }) => {
      const queue = `answered-${at}-${side}`
      const id = await book(queue)
      await reach(client, id, 'input_required')
      return { at, side, queue, id }
    }))
    await asker.stop()
    const doomed = await Promise.all(cases.map(async ({ queue }) => await startDoomed(t, service, 'worker', queue)))
    await Promise.all(cases.map(async ({ at, side, id }, place) => {
      doomed[place]?.arm(at, side, `:${id}`)
      await answer(client, id)
      await waitFor('it is killed, or done', async () => doomed[place]?.wasKilled() === true || (await read(client, id)).status === 'succeeded')
    }))
    areAllKilled = doomed.every(each => each.wasKilled())
    await Promise.all(doomed.map(async each => await each.process.stop('SIGKILL')))
    const rescuer = await service.startWorker()
    for (const { at, side, queue, id } of cases) {
      const about = `answered, ${side} command ${at}`
      const { status, error } = await waitFor(`${about}: it ends`, async () => {
        const job = await read(client, id)
        return ['succeeded', 'failed'].includes(job.status) && job
      }, 30_000)
      if (status === 'succeeded') t.equal(runs(queue), 1, about)
      else t.ok(error?.code === 'WORKER_LOST' && runs(queue) <= 1, `${about}: ${error?.message}`)
    }
    await rescuer.stop('SIGKILL')
  }
})
