import t from 'tap'
import { read, reach, submit } from '../jobs/submission.ts'
import type { Client } from '../support/client.ts'
import { createService } from '../support/service.ts'
import { comesTo, killApiAtEachCommand, killWorkerAtEachCommand } from './doomed-process.ts'
import { checkRun, runsOf } from './stamp.ts'

/*
 * A process is killed at each of its commands to Redis between a question of a tool, or a list of them, and the end of its job. The
 * tools aren't idempotent: what they do after the last answer is counted.
 */

const asking = (ask: object): string => `#!/bin/sh
read -r line
mark=\${line#*\\"mark\\":\\"}; mark=\${mark%%\\"*}
if [ -z "$TOOLYARD_ANSWER" ]; then echo '${JSON.stringify({ $ask: ask })}'; exit; fi
echo "$mark" >> runs
paste -sd, "$TOOLYARD_ANSWER" | sed 's/.*/{"said":[&]}/'
`
const schema = { type: 'object', properties: { mark: { type: 'string' } } }
const service = await createService(t, {
  files: {
    'tools/bin/one': asking({ text: 'Which?', schema: { type: 'object' } }),
    'tools/bin/three': asking(['left', 'right', 'middle'].map(name => ({ name, text: `${name}?`, schema: { type: 'object' } })))
  },
  tools: ['one', 'three'].map(name => ({ name, schema, command: [`./tools/bin/${name}`], permissions: ['write_files'], asks: true })),
  env: { MAX_QUEUES: '1000' },
  workers: 0
})
const { client } = service
const runs = (mark: string): number => runsOf(service).get(mark) ?? 0
const one = { status: 'succeeded', attempts: 2, result: { said: [{ x: 1 }] } }
const three = { status: 'succeeded', attempts: 2, result: { said: [{ x: 1 }, { x: 2 }, { x: 3 }] } }

async function ask (tool: 'one' | 'three', queue: string): Promise<string> {
  return (await submit(client, { type: `agentcli.${tool}`, queue, input: { mark: queue } })).id
}

async function answer (to: Client, id: string, number: number): Promise<number> {
  return (await to.request(`/v1/jobs/${id}/answer`, { body: { answer: { x: number }, number } })).status
}

async function openOf (id: string): Promise<number[]> {
  const { question } = await read(client, id)
  return question === undefined ? [] : [question, ...question.more ?? []].map(({ number }) => number)
}

/** Asks in a queue that is paused until the worker of the case is there. */
async function pause (queue: string, paused: boolean): Promise<void> {
  await client.request(`/v1/queues/${queue}`, { method: 'PATCH', body: { paused } })
}

t.test('promise 12 an API process that is killed at any command of an answer has taken it, or not, and the tool goes on once', { timeout: 300_000 }, async t => {
  await killApiAtEachCommand(t, service, 'answer', 1, {
    before: async queue => {
      const id = await ask('one', queue)
      await reach(client, id, 'input_required')
      return id
    },
    act: async (to, id) => await answer(to, id, 1),
    check: async (id, queue, about) => {
      const { status } = await read(client, id)
      if (status === 'input_required') t.equal(await answer(client, id, 1), 200, about)
      t.match(await reach(client, id, 'succeeded', 'failed'), one, about)
      t.equal(runs(queue), 1, about)
    }
  })
})

for (const [last, before] of [[1, []], [2, [3, 1]]] as const) {
  const which = last === 1 ? 'first' : 'last'
  t.test(`promise 12 an API process that is killed at any command of the ${which} answer to a list has taken it, or not, and the tool goes on once`, { timeout: 300_000 }, async t => {
    await killApiAtEachCommand(t, service, which, 1, {
      before: async queue => {
        const id = await ask('three', queue)
        await reach(client, id, 'input_required')
        for (const number of before) t.equal(await answer(client, id, number), 200, queue)
        return id
      },
      act: async (to, id) => await answer(to, id, last),
      check: async (id, queue, about) => {
        const open = await openOf(id)
        t.same([1, 2, 3].filter(number => !open.includes(number) && number !== last), open.length === 0 ? [1, 3] : before.toSorted(), about)
        // Also of the one that was taken: the same again changes nothing.
        for (const number of last === 1 ? [2, 1, 3] : open) t.equal(await answer(client, id, number), 200, `${about}, answer ${number}`)
        t.match(await reach(client, id, 'succeeded', 'failed'), three, about)
        t.equal(runs(queue), 1, about)
      }
    })
  })
}

for (const [tool, all, told] of [['one', [1], 'when a worker is killed at any command of a call that asks, it has asked, or is lost, and goes on once'], ['three', [1, 2, 3], 'answers that come as soon as a worker has asked, which is killed then at any command, are kept, and the tool goes on once']] as const) {
  t.test(`promise 12 ${told}`, { timeout: 400_000 }, async t => {
    const asked = new Set<string>()
    const early = new Set<string>()
    await killWorkerAtEachCommand(t, service, `asks-${tool}`, 0, {
      before: async queue => {
        await pause(queue, true)
        return await ask(tool, queue)
      },
      act: async (_id, queue) => { await pause(queue, false) },
      isDone: ({ question }) => question !== undefined,
      then: async id => {
        if ((await read(client, id)).status === 'input_required') asked.add(id)
        // Before it is parked, or after: the other two come to the worker that rescues it.
        if (tool === 'three' && await answer(client, id, 2) === 200) early.add(id)
      },
      check: async (id, queue, about) => {
        const { status, error } = await comesTo(service, id, about, 'input_required', 'failed')
        t.equal(runs(queue), 0, about)
        if (status === 'failed') {
          t.same([error?.code, asked.has(id), early.has(id)], ['WORKER_LOST', false, false], about)
          return
        }
        const open = await openOf(id)
        t.same(open, all.filter(number => !(early.has(id) && number === 2)), about)
        t.same(await Promise.all(open.map(number => answer(client, id, number))), open.map(() => 200), about)
        t.match(await reach(client, id, 'succeeded', 'failed'), tool === 'one' ? one : three, about)
        t.equal(runs(queue), 1, about)
      }
    })
  })
}

t.test('promise 12 when a worker is killed at any command of an answered call, it goes on once, or its state says that its worker was lost', { timeout: 400_000 }, async t => {
  await killWorkerAtEachCommand(t, service, 'answered', 0, {
    open: async () => {
      const asker = await service.startWorker()
      return async () => await asker.stop()
    },
    before: async queue => {
      const id = await ask('one', queue)
      await reach(client, id, 'input_required')
      return id
    },
    act: async id => await answer(client, id, 1),
    isDone: ({ status }) => status === 'succeeded',
    check: async (id, queue, about) => { checkRun(t, service, await comesTo(service, id, about, 'succeeded', 'failed'), queue) }
  })
})
