import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { hasPython } from '../support/python.ts'
import { createService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const fields = (count: number, field: (at: number) => object): object => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, field(at)]))
const base = 'abcdefghijklmnopqrstuvwxyz'
/** Schemas that took 0.1 to 10 s when they were read, or when they were first used. */
const schemas: Record<string, object> = {
  fields: { type: 'object', required: Array.from({ length: 400 }, (_, at) => `p${at}`), properties: fields(400, at => ({ type: 'string', minLength: 1, maxLength: 10 + at })) },
  choices: { type: 'object', properties: { p0: { anyOf: Array.from({ length: 1_000 }, (_, at) => ({ type: 'object', required: [`a${at}`], properties: {} })) } } },
  references: { type: 'object', $defs: { all: { properties: fields(100, () => ({ type: 'number' })) } }, properties: fields(100, () => ({ $ref: '#/$defs/all' })) },
  values: { type: 'object', properties: { p0: { enum: Array.from({ length: 8_000 }, (_, at) => ({ at })) } } },
  patterns: { type: 'object', properties: fields(12, at => ({ type: 'string', pattern: `^(?:${[...base].map(letter => `${letter}${at}`).join('|')})$` })) },
  proof: { type: 'object', properties: { p0: { type: 'string', pattern: '..[^a]é.\\s+[^]\\w{1,20}$é*\\s+[^]éé\\s+[^]éé' } } },
  automaton: { type: 'object', properties: { p0: { type: 'string', pattern: '^[ab]*a[ab]{150}c$' } } }
}
/** Arguments that are not {}: RE2's automaton has no end of states for this text. */
const long = { automaton: { p0: Array.from({ length: 1_000_000 }, (_, at) => 'ab'[Math.imul(at, 0x9e3779b1) >>> 31]).join('') + 'c' } }
const runs = [0, 1, 2, 3, 4]
/** A tool for each run: a schema that was there before isn't looked at again. */
const tools = (round: number): object[] => Object.entries(schemas).flatMap(([name, schema]) => runs.map(run => ({
  name: `${name}_${round}_${run}`, description: 'A tool.', command: ['./tools/bin/none'], schema: { ...schema, maxProperties: 1_000 + round * runs.length + run }
})))
const python = 'from toolyard import Tool\n\nclass Big(Tool):\n    def execute(self):\n        return {"p0": "x"}\n'
const bundle = {
  schema_version: '1.0',
  metadata: { name: 'test', description: 'A bundle of a test' },
  tools: runs.map(at => ({ name: `big_${at}`, description: 'A tool.', module: 'mods.big', strict_outputs: true, outputs: fields(400, each => ({ type: 'string', minLength: 1 + at + each })) }))
}
const env = turnEnvironment()
const service = await createService(t, {
  files: { 'tools/bin/none': '#!/bin/sh\necho\n', 'bundle/mods/big.py': python, 'bundle/manifest.json': JSON.stringify(bundle) },
  tools: tools(0),
  manifests: hasPython() ? ['tools.json', 'bundle/manifest.json'] : ['tools.json'],
  env
})
const { client } = service
const leavesLoopsFree = turnsOf(service, env)

t.test('promise 10: no large schema, or pattern, holds up the API or a worker when it is loaded or first used', async t => {
  let round = 0
  await leavesLoopsFree(t, 'a reload', async () => {
    round++
    writeFileSync(join(service.dir, 'tools.json'), JSON.stringify({ tools: tools(round) }))
    await waitFor('the new tools are served', async () => (await client.request('/v1/agent-tools')).text.includes(`"patterns_${round}_4"`), 120_000)
  })
  for (const name of Object.keys(schemas)) {
    let used = 0
    await leavesLoopsFree(t, `the first call with ${name}`, async () => {
      const { ok, error } = await client.call(`${name}_${round}_${used++}`, { more: 1, ...new Map(Object.entries(long)).get(name) })
      t.equal(ok ? undefined : error?.code, ['fields', 'automaton'].includes(name) ? 'INVALID_ARGUMENTS' : undefined)
    })
  }
})

t.test('promise 10: no large declaration of outputs holds up a worker', { skip: !hasPython() }, async t => {
  let at = 0
  await leavesLoopsFree(t, 'the first check of an output', async () => {
    t.match(await client.call(`big_${at++}`), { error: { code: 'OUTPUT_INVALID' } })
  })
})
