import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { archiveOf, headerOf, paxOf } from '../archives/archive-parts.ts'
import { createService, testKeys } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const env = turnEnvironment()
const service = await createService(t, { workers: 0, env })
const leavesLoopFree = turnsOf(service, env)

t.test('promise 10: no archive holds up the event loop, whatever is in it', async t => {
  const headers = { 'x-api-key': testKeys.admin }
  const put = async (body: Buffer): Promise<void> => {
    await (await fetch(`${service.api.address}/v1/files/unpacked?archive=tar`, { method: 'PUT', body: new Uint8Array(body), headers })).text()
  }
  const archives: Record<string, Buffer> = {
    '30,000 entries of no name': Buffer.concat(Array.from({ length: 30_000 }, () => headerOf({ name: './', type: '5' }))),
    '2,000 empty files': archiveOf(Array.from({ length: 2_000 }, (_, n) => ({ name: `files/${n}` }))),
    'extended headers of many records': Buffer.concat(Array.from({ length: 100 }, () => paxOf(Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, '']))))),
    'an extended header of one digit': Buffer.concat([headerOf({ name: 'x', type: 'x', size: 65_536 }), Buffer.alloc(65_536, '5 a=\n')]),
    'a path of many slashes': archiveOf([{ name: '/'.repeat(60_000).replace(/^/, 'a') }]),
    'a path of many dots': archiveOf([{ name: `${'./'.repeat(30_000)}a` }])
  }
  for (const [what, body] of Object.entries(archives)) await leavesLoopFree(t, `an archive with ${what}`, async () => { await put(body) })
})

t.test('promise 10: sending an archive of many files holds up nobody', async t => {
  const many = join(String(service.env['WORKSPACE_DIR']), 'many')
  mkdirSync(many)
  for (let at = 0; at < 20_000; at++) writeFileSync(join(many, `file ${at}`), 'x')
  await leavesLoopFree(t, 'an archive of 20,000 files', async () => {
    await (await fetch(`${service.api.address}/v1/files/many?archive=tar`, { headers: { 'x-api-key': testKeys.admin } })).arrayBuffer()
  })
})
