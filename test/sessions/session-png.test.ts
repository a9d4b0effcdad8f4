import { createHash } from 'node:crypto'
import t from 'tap'
import type { CallResult, JobView, SessionView } from '@toolyard/contract'
import { hasPython } from '../support/python.ts'
import { bundleOf, createService, testKeys } from '../support/service.ts'

t.setTimeout(120_000)

/** A picture of two by two pixels. */
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAE0lEQVR4nGP4z8DAAMIM/7l4pQAaRgMvhsHeQgAAAABJRU5ErkJggg==', 'base64')
/** Puts a text into a PNG, before its end. */
const python = `import hashlib
import struct
import zlib
from toolyard import Tool

class Mark(Tool):
    def execute(self, path):
        with open(path, "rb") as file:
            png = file.read()
        chunk = b"tEXtComment\\0marked"
        text = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
        made = png[:-12] + text + png[-12:]
        with open(path, "wb") as file:
            file.write(made)
        return {"size": len(made), "sha256": hashlib.sha256(made).hexdigest()}
`
const service = await createService(t, {
  workers: 0,
  files: {
    'tools/bin/sum': '#!/bin/sh\nsha256sum photo.png\n',
    'bundle/mark.py': python,
    'bundle/manifest.json': bundleOf({ name: 'mark', description: 'Marks a PNG', module: 'mark', inputs: { path: { type: 'string' } }, permissions: ['read_repo', 'write_files'] })
  },
  tools: [{ name: 'sum', schema: { type: 'object' }, command: ['./tools/bin/sum'], permissions: ['read_repo'] }],
  manifests: ['tools.json', 'bundle/manifest.json']
})
const { client, api: { address } } = service
const key = testKeys.admin
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function call (session: string, queue: string, name: string, args: object): Promise<CallResult & { worker: string | null }> {
  const result = await client.call(name, args, { queue, wait_ms: 60_000, session })
  if (result.job_id === undefined) throw new Error(JSON.stringify(result))
  return { ...result, worker: (await client.request<{ job: JobView }>(`/v1/jobs/${result.job_id}`)).body.job.worker }
}

t.test('a PNG is stored, changed by a Python tool on another worker, and comes out byte for byte as the tool wrote it', { skip: !hasPython }, async t => {
  await service.startWorker({ WORKER_QUEUES: 'one' })
  await service.startWorker({ WORKER_QUEUES: 'two' })
  const { body: { session: { id } } } = await client.request<{ session: SessionView }>('/v1/sessions', { body: {} })
  const file = `${address}/v1/sessions/${id}/files/photo.png`
  const put = await fetch(file, { method: 'PUT', body: png, headers: { 'x-api-key': key } })
  t.match(await put.json(), { file: { size: png.length, type: 'image/png', sha256: sha256(png) } })

  const first = await call(id, 'one', 'sum', {})
  t.equal(first.output, `${sha256(png)}  photo.png`, 'the first worker has it as it went in')
  const second = await call(id, 'two', 'mark', { path: 'photo.png' })
  t.ok(second.ok, JSON.stringify(second.error))
  t.not(second.worker, first.worker)

  const read = await fetch(file, { headers: { 'x-api-key': key } })
  const got = new Uint8Array(await read.arrayBuffer())
  t.same({ size: got.length, sha256: sha256(got) }, second.output)
  t.equal(read.headers.get('content-type'), 'image/png')
  t.match(Buffer.from(got).toString('latin1'), /tEXtComment\0marked/)
  t.equal((await call(id, 'one', 'sum', {})).output, `${sha256(got)}  photo.png`, 'and the first worker sees the new one')
})
