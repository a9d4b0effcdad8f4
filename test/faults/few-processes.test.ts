import type { WorkerList } from '@toolyard/contract'
import { findHierarchy } from '@toolyard/sandbox'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { reach, read, submit } from '../jobs/submission.ts'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { hasPython } from '../support/python.ts'
import { bundleOf, createService, testKeys } from '../support/service.ts'

/** A control group that bounds the number of processes, as a container's does. */
interface Bounded {
  /** Starts what is in it, with all that this starts. */
  within: <T> (start: () => Promise<T>) => Promise<T>
  /** Allows so many more processes than there are, and never more than before. */
  allowMore: (count: number) => void
  free: () => void
}

/** Undefined where this user can make none. */
function boundProcesses (): Bounded | undefined {
  const hierarchy = findHierarchy()
  const own = hierarchy?.version === 2 ? hierarchy.directory : hierarchy?.directories.get('pids')
  if (own === undefined) return undefined
  const group = join(own, `toolyard-test-${process.pid}`)
  let most = Infinity
  const enter = (directory: string): void => { writeFileSync(join(directory, 'cgroup.procs'), String(process.pid)) }
  const limit = (count: string): void => { writeFileSync(join(group, 'pids.max'), count) }
  try {
    mkdirSync(group)
    limit('max')
    enter(group)
    enter(own)
  } catch {
    return undefined
  }
  t.teardown(async () => {
    await waitFor('the group is empty', () => {
      try {
        rmdirSync(group)
        return true
      } catch {
        return false
      }
    })
  })
  return {
    async within (start) {
      enter(group)
      return await start().finally(() => { enter(own) })
    },
    allowMore (count) {
      const wanted = Number(readFileSync(join(group, 'pids.current'), 'utf8')) + count
      if (wanted >= most) return
      most = wanted
      limit(String(most))
    },
    free () {
      most = Infinity
      limit('max')
    }
  }
}

/** It starts nothing: once it runs, too few processes would be its own failure. */
const run = '#!/bin/sh\necho run >> runs\necho \'{"done":true}\'\n'
const echo = 'from toolyard import Tool\n\n\nclass EchoTool(Tool):\n    def execute(self):\n        return 1\n'

const bounded = boundProcesses()
const skip = bounded === undefined || !hasPython() ? 'this user can make no control groups, or there is no python3' : false

t.test('a worker whose control group allows too few processes fails no call: each waits, and runs once when there may be more', { skip }, async t => {
  if (bounded === undefined) return
  const service = await createService(t, {
    tools: [{ name: 'command', schema: { type: 'object' }, command: ['./tools/bin/run'] }],
    files: {
      'tools/bin/run': run,
      'code/echo.py': echo,
      'code/manifest.json': bundleOf({ name: 'python', description: 'Echoes', module: 'echo' })
    },
    manifests: ['tools.json', 'code/manifest.json'],
    workers: 0
  })
  const shortages = async (): Promise<Array<string | null>> => (
    (await service.client.request<WorkerList>('/v1/workers')).body.workers.map(({ shortage }) => shortage)
  )
  for (const [index, more] of [0, 1, 2].entries()) {
    // None has what its calls could go on with, and nothing waits ready.
    const worker = await bounded.within(async () => await service.startWorker({ BOX_STOCK_MB: '0' }))
    bounded.allowMore(more)
    const types = ['agentcli.command', 'pylot.python']
    const jobs = await Promise.all(types.map(type => submit(service.client, { type })))
    await waitFor('it takes no more', async () => {
      bounded.allowMore(more)
      return (await shortages()).includes('EAGAIN')
    })
    for (const { id, type } of jobs) t.match(await read(service.client, id), { error: null }, `${type}, with ${more} more`)
    bounded.free()
    for (const { id, type } of jobs) {
      const { status, attempts, error } = await reach(service.client, id, 'succeeded', 'failed')
      t.strictSame({ type, status, attempts, error }, { type, status: 'succeeded', attempts: 1, error: null }, `with ${more} more`)
    }
    t.equal(readFileSync(join(service.dir, 'workspace/runs'), 'utf8'), 'run\n'.repeat(index + 1))
    await waitFor('its record says so', async () => (await shortages()).every(shortage => shortage === null))
    await worker.stop()
  }
})

t.test('an API whose control group allows no more threads answers what needs one with a 503 that says so, and serves it when there may be more', { skip }, async t => {
  if (bounded === undefined) return
  const schema = { type: 'object', properties: { text: { type: 'string', pattern: '^(?=a)a*$' } } }
  const service = await createService(t, { tools: [{ name: 'command', schema, command: ['./tools/bin/run'] }], files: { 'tools/bin/run': run } })
  const api = await bounded.within(async () => await service.startApi())
  const client = createClient(api.address, testKeys.admin)
  const call = { calls: [{ call_id: 'c', name: 'command', arguments: { text: 'aa' } }] }
  bounded.allowMore(0)
  const refused = await client.request('/v1/agent-tools/invoke-batch', { body: call })
  t.match(refused, { status: 503, body: { error: { code: 'UNAVAILABLE', message: /no thread/, details: { may_exist: true } } } })
  t.notOk(existsSync(join(service.dir, 'workspace/runs')))
  bounded.free()
  t.match(await client.request('/v1/agent-tools/invoke-batch', { body: call }), { status: 200, body: { results: [{ ok: true }] } })
  await api.stop()
})
