import t from 'tap'
import { createService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const names = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, at) => `${prefix}${at}`)
const env = turnEnvironment()
const service = await createService(t, {
  files: {
    'tools/bin/none': '#!/bin/sh\necho\n',
    'skills/large/SKILL.md': '---\nname: large\ndescription: Has a large file.\n---\nUse it.\n',
    // Each of its characters is six of JSON.
    'skills/large/control.txt': '\u0001'.repeat(1_000_000)
  },
  tools: [
    { name: 'choice', command: ['./tools/bin/none'], publishAs: 'prompt', schema: { type: 'object', properties: { code: { type: 'string', enum: names(20_000, 'value ') } } } }
  ],
  manifests: ['skills', 'tools.json'],
  env
})
const leavesLoopsFree = turnsOf(service, env)

async function ask (method: string, params: object): Promise<number> {
  const { status } = await service.client.request('/mcp', {
    body: { jsonrpc: '2.0', id: 1, method, params }, headers: { accept: 'application/json', 'mcp-protocol-version': '2025-11-25' }
  })
  return status
}

t.test('promise 10: files of skills that many requests read at once are answered with one after the other', async t => {
  await leavesLoopsFree(t, '40 reads of a megabyte of control characters', async () => {
    await Promise.all(names(40, '').map(() => ask('resources/read', { uri: 'skill://large/control.txt' })))
  })
})

t.test('promise 10: a long beginning of a value holds up nothing, however many values there are', async t => {
  const params = { ref: { type: 'ref/prompt', name: 'choice' }, argument: { name: 'code', value: 'Ä'.repeat(60_000) } }
  await leavesLoopsFree(t, 'a completion', async () => { t.equal(await ask('completion/complete', params), 200) })
})
