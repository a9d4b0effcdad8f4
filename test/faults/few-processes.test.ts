import type { WorkerList } from '@toolyard/contract'
import { findHierarchy } from '@toolyard/sandbox'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runToolyard } from '../cli/toolyard.ts'
import { reach, read, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { hasPython } from '../support/python.ts'
import { bundleOf, createService } from '../support/service.ts'

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

const run = '#!/bin/sh\ncat > /dev/null\necho run >> runs\necho \'{"done":true}\'\n'
const echo = 'from toolyard import Tool\n\n\nclass EchoTool(Tool):\n    def execute(self):\n        return 1\n'

const bounded = boundProcesses()
const skip = bounded === undefined || !hasPython() ? 'this user can make no control groups, or there is no python3' : false

t.test('a worker whose control group allows too few processes fails no call: each waits, and runs once when there may be more', { skip }, async t => {
  if (bounded === undefined) return
  const service = await createService(t, {
    tools: [
      { name: 'command', schema: { type: 'object' }, command: ['./tools/bin/run'] },
      { name: 'own', mcp: { command: process.execPath, args: ['./tools/server.mjs'] }, tools: ['echo'] }
    ],
    files: {
      'tools/bin/run': run,
      'tools/server.mjs': readFileSync(fileURLToPath(new URL('../executors/hostile-server.js', import.meta.url)), 'utf8'),
      'code/echo.py': echo,
      'code/manifest.json': bundleOf({ name: 'python', description: 'Echoes', module: 'echo' })
    },
    manifests: ['tools.json', 'code/manifest.json'],
    workers: 0
  })
  const accepted = await runToolyard(['accept', 'tools.json', '--yes'], { cwd: service.dir, env: { SANDBOX: 'off', WORKSPACE_DIR: `${service.dir}/workspace` } })
  t.equal(accepted.status, 0, accepted.stderr)
  await waitFor('its tools are published', async () => (await service.client.request('/v1/agent-tools')).text.includes('own_echo'))
  const shortages = async (): Promise<Array<string | null>> => (
    (await service.client.request<WorkerList>('/v1/workers')).body.workers.map(({ shortage }) => shortage)
  )
  for (const [index, more] of [0, 1, 2].entries()) {
    // None has what its calls could go on with, and nothing waits ready.
    const worker = await bounded.within(async () => await service.startWorker({ BOX_STOCK_MB: '0' }))
    bounded.allowMore(more)
    const types = ['agentcli.command', 'pylot.python', 'mcp.own_echo']
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
