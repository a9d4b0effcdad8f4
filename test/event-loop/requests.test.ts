import t from 'tap'
import { startService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'
import { worstTexts } from './worst-texts.ts'

const open = { type: 'object' }
const choices = Array.from({ length: 60 }, (_, at) => ({ type: 'object', properties: { [`f${at}`]: { type: 'integer' } }, required: [`f${at}`] }))
const schemas: Record<string, object> = {
  anything: open,
  choices: { ...open, properties: { a: { type: 'array', items: { anyOf: [...choices, { type: 'number', minimum: 1 }] } } } },
  defaults: { ...open, properties: { a: { type: 'array', items: { type: ['object', 'array', 'number'], properties: { x: { default: 1 }, constructor: { default: 1 } } } } } },
  unique: { ...open, properties: { a: { type: 'array', uniqueItems: true } } },
  values: { ...open, properties: { a: { type: 'array', items: { enum: Array.from({ length: 2_000 }, (_, at) => `value ${at}`) } } } },
  names: { ...open, properties: { a: { type: 'object', patternProperties: { '^k[0-9]+$': { type: 'string' } }, additionalProperties: false } } },
  recursive: { ...open, properties: { a: { $ref: '#/$defs/node' } }, $defs: { node: { anyOf: [{ type: 'array', items: { $ref: '#/$defs/node' } }, { type: 'object', additionalProperties: { $ref: '#/$defs/node' } }, { type: 'string' }] } } }
}
const env = turnEnvironment()
const service = await startService(t, {
  files: { 'tools/bin/none': '#!/bin/sh\necho\n' },
  tools: Object.entries(schemas).map(([name, parameters]) => ({ name, description: 'A tool.', command: ['none'], parameters })),
  env
})

const { client } = service
const leavesLoopsFree = turnsOf(service, env)

const batch = async (body: string, headers: Record<string, string> = {}): Promise<unknown> => await client.request('/v1/agent-tools/invoke-batch', { body, headers })

t.test('promise 10: no arguments hold up the API or a worker, whatever the schema', async t => {
  for (const name of Object.keys(schemas)) {
    for (const text of ['{}', '{"a":[1]}']) await batch(`{"calls":[{"call_id":"1","name":"${name}","arguments":${text}}]}`)
    for (const size of [900_000, 250_000]) {
      for (const [what, text] of Object.entries(worstTexts(size))) {
        const value = /^[[{]/.test(text) && !what.startsWith('a line') ? text : JSON.stringify(text).slice(0, size)
        const body = `{"calls":[{"call_id":"1","name":"${name}","arguments":{"a":${/^"/.test(value) && !value.endsWith('"') ? `${value.replace(/\\+$/, '')}"` : value}}}]}`
        await leavesLoopsFree(t, `${size} bytes of ${what} for ${name}`, () => batch(body))
      }
    }
  }
})

t.test('promise 10: twenty calls and a key for them hold up nothing', async t => {
  for (const [what, text] of Object.entries(worstTexts(40_000))) {
    const calls = Array.from({ length: 20 }, (_, at) => ({ call_id: String(at), name: 'anything', arguments: { text } }))
    let run = 0
    await leavesLoopsFree(t, `20 calls with ${what}`, () => batch(JSON.stringify({ calls }), { 'idempotency-key': `${what} ${run++}`.replace(/[^a-z0-9 ]/gi, '') }))
  }
  const many = Object.fromEntries(Array.from({ length: 29_000 }, (_, at) => [`k${at * 7_919 % 29_000}`, at]))
  let run = 0
  await leavesLoopsFree(t, '29,000 fields with a key', () => batch(JSON.stringify({ calls: [{ call_id: '1', name: 'anything', arguments: many }] }), { 'idempotency-key': `fields ${run++}` }))
})

t.test('a body of more than 30,000 objects, lists and fields is refused', async t => {
  const bodyOf = (items: number): string => `{"calls":[{"call_id":"1","name":"no_such_tool","arguments":{"a":[${Array(items).fill('{}').join(',')}]}}]}`
  t.match(await batch(bodyOf(31_000)), { status: 400, body: { error: { code: 'VALIDATION_ERROR', message: 'Request body holds more than 30000 objects, lists and fields' } } })
  t.match(await batch(bodyOf(29_900)), { status: 200 })
  t.match(await batch(`{"calls":[{"call_id":"1","name":"no_such_tool","arguments":{"a":"${'[:{'.repeat(40_000)}"}}]}`), { status: 200 }, 'in a text they are characters')
})
