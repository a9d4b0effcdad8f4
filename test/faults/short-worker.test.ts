import type { WorkerList } from '@toolyard/contract'
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runToolyard } from '../cli/toolyard.ts'
import { reach, read, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { freePort } from '../support/redis-process.ts'
import { startApp } from '../support/processes.ts'
import { createService } from '../support/service.ts'

const disk = mkdtempSync(join(tmpdir(), 'toolyard-disk-'))
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk]).status === 0
t.teardown(() => {
  if (isMounted) spawnSync('umount', ['-l', disk])
  rmSync(disk, { recursive: true, force: true })
})
const page = 4_096
const options = { skip: isMounted ? false : 'this user can mount no file system' }
const run = '#!/bin/sh\ncat > /dev/null\necho run >> runs\necho \'{"done":true}\'\n'
const tool = (name: string, rest: object = {}): object => ({ name, schema: { type: 'object' }, command: ['./tools/bin/run'], ...rest })

/** Leaves the disk no room until the answer is called. */
function fill (): () => void {
  const file = join(disk, 'filler')
  const descriptor = openSync(file, 'w')
  try {
    for (const block of [Buffer.alloc(1 << 16), Buffer.alloc(1)]) {
      try {
        for (;;) writeSync(descriptor, block)
      } catch {
        // There is no room left, as it should be.
      }
    }
  } finally {
    closeSync(descriptor)
  }
  return () => { rmSync(file) }
}

t.test('a worker whose disk is full leaves its calls to others, takes no more until there is room, and says so', options, async t => {
  const service = await createService(t, { tools: [tool('once'), tool('again', { idempotent: true })], files: { 'tools/bin/run': run }, workers: 0 })
  const port = await freePort()
  await service.startWorker({ TMPDIR: disk, METRICS_PORT: String(port) })
  const isReady = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/ready`)).status === 200
  const shortages = async (): Promise<Array<string | null>> => (
    (await service.client.request<WorkerList>('/v1/workers')).body.workers.map(({ shortage }) => shortage)
  )
  t.equal(await isReady(), true)
  const free = fill()
  const alone = await submit(service.client, { type: 'agentcli.once' })
  await waitFor('it says that it is not ready', async () => !await isReady())
  t.match(await (await fetch(`http://127.0.0.1:${port}/ready`)).text(), /ENOSPC/)
  await waitFor('its record says so', async () => (await shortages()).includes('ENOSPC'))
  t.match(await read(service.client, alone.id), { status: 'queued' }, 'a call that nobody can start waits')
  const other = await service.startWorker()
  const jobs = await Promise.all(Array.from({ length: 20 }, (_, place) => submit(service.client, { type: place % 2 === 0 ? 'agentcli.once' : 'agentcli.again' })))
  for (const { id } of [alone, ...jobs]) t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded', attempts: 1 })
  await other.stop()
  free()
  await waitFor('it is ready again', isReady)
  const { id } = await submit(service.client, { type: 'agentcli.once' })
  t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded' })
  await waitFor('its record says so', async () => (await shortages()).every(shortage => shortage === null))
})

t.test('a call whose input fits on the disk, and whose box does not, waits for room', options, async t => {
  const service = await createService(t, { tools: [tool('once')], files: { 'tools/bin/run': run }, workers: 0 })
  // One that waits since the first call has its room.
  await service.startWorker({ TMPDIR: disk, BOX_STOCK_MB: '0' })
  await reach(service.client, (await submit(service.client, { type: 'agentcli.once' })).id, 'succeeded')
  const free = fill()
  truncateSync(join(disk, 'filler'), statSync(join(disk, 'filler')).size - page)
  const { id } = await submit(service.client, { type: 'agentcli.once' })
  await waitFor('the worker takes no more', async () => (
    (await service.client.request<WorkerList>('/v1/workers')).body.workers.some(({ shortage }) => shortage === 'ENOSPC')
  ))
  free()
  const { status, attempts, error } = await reach(service.client, id, 'succeeded', 'failed')
  t.match({ status, attempts, error }, { status: 'succeeded', attempts: 1, error: null })
})

t.test('a worker that starts where its disk is full ends with a sentence', options, async t => {
  const service = await createService(t, { tools: [tool('once')], files: { 'tools/bin/run': run }, workers: 0 })
  spawnSync('mount', ['-o', 'remount,nr_inodes=1', disk])
  t.teardown(() => { spawnSync('mount', ['-o', 'remount,nr_inodes=1000', disk]) })
  const said = await startApp('worker', service.dir, { ...service.env, TMPDIR: disk }).then(() => 'it started', String)
  t.match(said, /It cannot start: there is no room left on the disk \(ENOSPC/)
  t.notMatch(said, /\n\s+at /)
})

t.test('a worker without descriptors fails no call of any kind of tool: each waits, and runs once when they are back', async t => {
  const remote = createServer((_request, response) => { response.setHeader('content-type', 'application/json').end('{"a": 1}') })
  await listening(t, remote)
  const env = { HTTP_PRIVATE_HOSTS: '127.0.0.1', SANDBOX: 'off' }
  const service = await createService(t, {
    files: {
      'tools/bin/run': run,
      'workspace/here.txt': 'here',
      'code/echo.py': 'from toolyard import Tool\n\nclass Echo(Tool):\n    def execute(self):\n        return {"status": "ok"}\n',
      'code/manifest.json': JSON.stringify({ schema_version: '1.0', metadata: { name: 'code', description: 'Echoes' }, tools: [{ name: 'python', description: 'Echoes', module: 'echo' }] })
    },
    manifests: ['tools.json', 'code/manifest.json'],
    tools: [
      tool('command'),
      { name: 'asked', http: { method: 'POST', url: `http://127.0.0.1:${(remote.address() as AddressInfo).port}/a` } },
      { name: 'own', mcp: { command: process.execPath, args: [fileURLToPath(new URL('../executors/hostile-server.js', import.meta.url))] }, tools: ['echo'] }
    ],
    workers: 0,
    env
  })
  const accepted = await runToolyard(['accept', 'tools.json', '--yes'], { cwd: service.dir, env: { SANDBOX: 'off', WORKSPACE_DIR: `${service.dir}/workspace` } })
  t.equal(accepted.status, 0, accepted.stderr)
  const worker = await service.startWorker()
  await waitFor('its tools are published', async () => (await service.client.request('/v1/agent-tools')).text.includes('own_echo'))
  // It has its connections for this queue then.
  await reach(service.client, (await submit(service.client, { type: 'workspace.list' })).id, 'succeeded')
  const pid = String(worker.child.pid)
  const limit = spawnSync('prlimit', ['--pid', pid, '--nofile', '--noheadings', '--output', 'SOFT'], { encoding: 'utf8' }).stdout.trim()
  const bound = (most: string): void => { spawnSync('prlimit', ['--pid', pid, `--nofile=${most}:`]) }
  bound('8')
  const calls = {
    'agentcli.command': {},
    'agentcli.asked': {},
    'mcp.own_echo': { text: 'hello' },
    'pylot.python': {},
    'data.file_read': { path: 'here.txt' },
    'tools.file_search': { query: 'here' },
    'tools.find_in_files': { query: 'here' },
    'workspace.list': {}
  }
  const jobs = await Promise.all(Object.entries(calls).map(([type, input]) => submit(service.client, { type, input })))
  await waitFor('it takes no more', async () => {
    const { workers } = (await service.client.request<WorkerList>('/v1/workers')).body
    return workers.some(({ shortage }) => shortage === 'EMFILE')
  })
  bound(limit)
  for (const { id, type } of jobs) {
    const { status, attempts, error } = await reach(service.client, id, 'succeeded', 'failed')
    t.strictSame({ type, status, attempts, error }, { type, status: 'succeeded', attempts: 1, error: null })
  }
})
