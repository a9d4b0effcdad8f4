import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { injectService } from '../support/injected.ts'

const schema = { type: 'object' }
const service = await injectService(t, {
  files: { 'tools/bin/small.sh': '#!/bin/sh\necho 1\n' },
  tools: [
    { name: 'large', description: 'A large program.', schema, command: [process.execPath, '-e', '1'], approval: 'required' },
    { name: 'small', description: 'A small program.', schema, command: ['./tools/bin/small.sh'], approval: 'required' }
  ],
  workers: 0
})
const { client } = service

/** Bytes that this process, and so its API, has read. */
function bytesRead (): number {
  return Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
}

t.test('many calls of a tool that are held read its program once', async t => {
  const calls = Array.from({ length: 20 }, (_, at) => ({ call_id: String(at), name: 'large', arguments: { at } }))
  const before = bytesRead()
  for (let batch = 0; batch < 2; batch++) {
    const { results } = await client.batch(calls)
    t.equal(results.filter(({ error }) => error?.code === 'HELD').length, 20)
  }
  const times = (bytesRead() - before) / statSync(process.execPath).size
  t.ok(times < 2, `${times.toFixed(1)} times`)
})

t.test('a call that is held after its program has changed names the new one', async t => {
  const program = async (): Promise<unknown> => {
    const { job_id: id = '' } = await client.call('small')
    return (await client.held(id)).program_sha256
  }
  const first = await program()
  t.equal(await program(), first)
  writeFileSync(join(service.dir, 'tools', 'bin', 'small.sh'), '#!/bin/sh\necho 2\n')
  t.not(await program(), first)
})
