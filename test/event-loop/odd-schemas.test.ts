import { freeName } from '@toolyard/contract/terms'
import { providerTools } from '@toolyard/manifests'
import t from 'tap'
import { testTool } from '../support/tool.ts'
import { createService } from '../support/service.ts'
import { leavesLoopFree } from './longest-turn.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const list = <Item>(count: number, item: (at: number) => Item): Item[] => Array.from({ length: count }, (_, at) => item(at))
const properties = (count: number, nameOf: (at: number) => string): object => Object.fromEntries(list(count, at => [nameOf(at), { type: 'string' }]))
const schemas = {
  branches: { type: 'object', anyOf: list(2_000, at => ({ properties: { [`a!${at}`]: { type: 'string' } } })) },
  nulls: { type: 'object', properties: properties(4_000, at => `p${at}`), required: list(100_000, at => `q${at}`) }
}
const env = turnEnvironment()
const service = await createService(t, {
  files: { 'tools/bin/none': '#!/bin/sh\necho 1\n' },
  tools: Object.entries(schemas).map(([name, schema]) => ({ name, description: 'A tool.', command: ['./tools/bin/none'], schema })),
  env
})
const leavesLoopsFree = turnsOf(service, env)

async function call (name: string, body: object): Promise<void> {
  await service.client.request(`/v1/tools/${name}`, { method: 'POST', body })
}

t.test('promise 10: no schema with names that providers do not take holds up a process', async t => {
  const fields = Object.fromEntries(list(25_000, at => [`k${at}`, 1]))
  await leavesLoopsFree(t, 'fields of many branches', () => call('branches', fields))
})

t.test('promise 10: no choices of a schema hold up who makes a list of it for a provider', async t => {
  const chain = (count: number): object => Object.fromEntries(list(8, at => [`d${at}`, { anyOf: list(count, () => ({ $ref: `#/$defs/d${at + 1}` })) }]))
  const odd: Record<string, Record<string, unknown>> = {
    'choices within choices': { $defs: chain(60), anyOf: [{ $ref: '#/$defs/d0' }] },
    'one name': { anyOf: list(2_000, at => ({ properties: { kind: { const: `kind ${at}` } } })) },
    'large schemas of one name': {
      $defs: { large: { properties: { kind: { description: 'x'.repeat(500_000) } } } },
      anyOf: list(200, at => ({ anyOf: [{ $ref: '#/$defs/large' }, { properties: { kind: { const: at } } }] }))
    },
    'required names': { $defs: { d: { required: list(5_000, at => `name ${at}`) } }, anyOf: list(2_000, () => ({ $ref: '#/$defs/d' })) },
    'large schemas that references lead to': {
      $defs: { large: { description: 'x'.repeat(500_000), properties: { again: { $ref: '#/$defs/large' } } } }, properties: Object.fromEntries(list(1_000, at => [`p${at}`, { $ref: '#/$defs/large' }]))
    },
    'references that lead to places of large schemas': {
      properties: { large: { description: 'x'.repeat(500_000), properties: Object.fromEntries(list(1_000, at => [`p${at}`, { $ref: `#/properties/large/properties/p${at + 1}` }])) } }
    },
    'references to references': { $defs: chain(20), properties: { top: { $ref: '#/$defs/d0' } } },
    'names of their own': { anyOf: list(2_000, at => ({ properties: { [`kind ${at}`]: {} }, required: [`kind ${at}`] })) }
  }
  for (const [what, parameters] of Object.entries(odd)) {
    const tool = { ...testTool({ kind: 'command', program: '/bin/true', args: [], envPassthrough: [] }), parameters: { type: 'object', ...parameters } }
    for (const format of ['chat', 'gemini'] as const) {
      await leavesLoopFree(t, `${what} for ${format}`, () => { t.ok(JSON.stringify(providerTools(format, false)(tool)).length < 5_000_000) })
    }
  }
})

t.test('promise 10: thousands of names that become one hold up nothing', async t => {
  await leavesLoopFree(t, '5,000 names', () => {
    const taken = new Set<string>()
    t.strictSame(list(5_000, () => freeName('name', taken)).slice(0, 4), ['name', 'name_2', 'name_3', 'name_4'])
    t.equal(taken.size, 5_000)
  })
})

t.test('promise 10: no null of strict mode holds up a process', async t => {
  await leavesLoopsFree(t, 'nulls and required names', () => call('nulls', Object.fromEntries(list(4_000, at => [`p${at}`, null]))))
})
