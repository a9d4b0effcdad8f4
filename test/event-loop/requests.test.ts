import t from 'tap'
import { createService } from '../support/service.ts'
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
const service = await createService(t, {
  files: { 'tools/bin/none': '#!/bin/sh\necho\n' },
  tools: Object.entries(schemas).map(([name, parameters]) => ({ name, description: 'A tool.', command: ['./tools/bin/none'], schema: parameters })),
  env
})

const { client } = service
const leavesLoopsFree = turnsOf(service, env)

interface Answers { results: Array<{ error?: { code: string } }>, error?: { code: string } }

/** Sends a batch; gives what became of the request, or of its calls: `succeeded`, or the code of the error. */
async function sent (body: string, headers: Record<string, string> = {}): Promise<string> {
  const { status, body: { results, error } } = await client.request<Answers>('/v1/agent-tools/invoke-batch', { body, headers })
  if (status !== 200) return `${status} ${error?.code}`
  return [...new Set(results.map(result => result.error?.code ?? 'succeeded'))].join(', ')
}

/** Texts as values of arguments: as they are when they are JSON, else as a string. */
function worstValues (size: number): Array<[string, string]> {
  return Object.entries(worstTexts(size)).map(([what, text]) => {
    const isJson = /^[[{]/.test(text) && !what.startsWith('a line')
    return [what, isJson ? text : JSON.stringify(text.slice(0, size * size / JSON.stringify(text).length))]
  })
}

/** Objects, lists and fields of a value. */
function partsOf (value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const items = Object.values(value)
  return items.reduce((sum: number, item) => sum + partsOf(item), Array.isArray(value) ? 1 : 1 + items.length)
}

/** The values that fit each schema; undefined where it depends on how fast the machine is. */
const fitting: Record<string, (what: string, value: unknown) => boolean | undefined> = {
  anything: () => true,
  choices: () => false,
  // Half a million of numbers may be too complex for a schema of several parts.
  defaults: (_, value) => Array.isArray(value) && (value.length < 400_000 ? true : undefined),
  unique: what => what === 'objects of all shapes',
  values: () => false,
  names: () => false,
  recursive: (what, value) => typeof value === 'string' || what === 'lists' || what === 'objects'
}

t.test('promise 10: no arguments hold up the API or a worker, whatever the schema', async t => {
  for (const [name, fits] of Object.entries(fitting)) {
    for (const size of [900_000, 250_000]) {
      for (const [what, text] of worstValues(size)) {
        const value: unknown = JSON.parse(text)
        const isLarge = partsOf(value) > 29_990
        // A value that is refused before it reaches a schema, and one that a schema doesn't look into, is sent once.
        if (typeof value === 'string' && (size < 900_000 || (name !== 'anything' && what !== 'equal letters'))) continue
        // A schema is as slow with a part of the rest.
        if (name !== 'anything' && (isLarge || (typeof value !== 'string' && size > 250_000))) continue
        const isFit = fits(what, value)
        const expected = isLarge ? ['400 VALIDATION_ERROR'] : [...isFit === false ? [] : ['succeeded'], ...isFit === true ? [] : ['INVALID_ARGUMENTS']]
        await leavesLoopsFree(t, `${size} bytes of ${what} for ${name}`, async () => {
          t.ok(expected.includes(await sent(`{"calls":[{"call_id":"1","name":"${name}","arguments":{"a":${text}}}]}`)), expected.join(' or '))
        })
      }
    }
  }
})

t.test('promise 10: twenty calls and a key for them hold up nothing', async t => {
  for (const [what, text] of Object.entries(worstTexts(40_000))) {
    const calls = Array.from({ length: 20 }, (_, at) => ({ call_id: String(at), name: 'anything', arguments: { text } }))
    const body = JSON.stringify({ calls })
    let run = 0
    await leavesLoopsFree(t, `20 calls with ${what}`, async () => {
      t.equal(await sent(body, { 'idempotency-key': `texts-${what}-${run++}`.replaceAll(' ', '-') }), body.length > 1_048_576 ? '413 PAYLOAD_TOO_LARGE' : 'succeeded')
    })
  }
  const many = Object.fromEntries(Array.from({ length: 29_000 }, (_, at) => [`k${at * 7_919 % 29_000}`, at]))
  let run = 0
  await leavesLoopsFree(t, '29,000 fields with a key', async () => {
    t.equal(await sent(JSON.stringify({ calls: [{ call_id: '1', name: 'anything', arguments: many }] }), { 'idempotency-key': `fields-${run++}` }), 'succeeded')
  })
})

t.test('a body of more than 30,000 objects, lists and fields is refused', async t => {
  const bodyOf = (items: number): string => `{"calls":[{"call_id":"1","name":"no_such_tool","arguments":{"a":[${Array(items).fill('{}').join(',')}]}}]}`
  t.match(await client.request('/v1/agent-tools/invoke-batch', { body: bodyOf(31_000) }), { status: 400, body: { error: { code: 'VALIDATION_ERROR', message: 'Request body holds more than 30000 objects, lists and fields' } } })
  t.match(await client.request('/v1/agent-tools/invoke-batch', { body: bodyOf(29_900) }), { status: 200 })
  t.match(await client.request('/v1/agent-tools/invoke-batch', { body: `{"calls":[{"call_id":"1","name":"no_such_tool","arguments":{"a":"${'[:{'.repeat(40_000)}"}}]}` }), { status: 200 }, 'in a text they are characters')
})
