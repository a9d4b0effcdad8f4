import t from 'tap'
import type { Test } from 'tap'
import { lintForModels } from '@toolyard/manifests'
import { entry, load } from './fixture.ts'
import { descriptor, loadProject, loadTools, manifestOf } from './project.ts'

async function lint (t: Test, ...tools: unknown[]): Promise<Array<[string, string | undefined]>> {
  return lintForModels(await loadTools(t, ...tools)).map(({ rule, tool }) => [rule, tool])
}

t.test('R6 X12 tools that models can use well get no advice, and loading never gives any', async t => {
  const registry = await loadTools(t, descriptor({ name: 'a', description: 'x' }))
  t.notOk(registry.findings.some(({ rule }) => rule.startsWith('lint/')))
  t.strictSame(await lint(t, descriptor({ inputs: { path: { type: 'string' } } })), [])
})

t.test('descriptions that are too short or too long get advice', async t => {
  t.strictSame(await lint(t, descriptor({ description: 'Short.' }), descriptor({ name: 'other', description: 'x'.repeat(1_025) }), descriptor({ name: 'fine', description: 'x'.repeat(1_024) })), [
    ['lint/description', 'probe'], ['lint/description', 'other']
  ])
})

t.test('names that say nothing, or are alike, get advice', async t => {
  t.strictSame(await lint(t, descriptor({ name: 'go' }), descriptor({ name: 'get_time' }), descriptor({ name: 'get-time' }), descriptor({ name: 'get_times' })), [
    ['lint/name', 'go'], ['lint/name', 'get_time'], ['lint/name', 'get-time']
  ])
})

t.test('schemas that are deep, large, or have no strict form get advice', async t => {
  let deep: Record<string, unknown> = { type: 'string' }
  for (let level = 0; level < 5; level++) deep = { type: 'array', items: deep }
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`p${at}`, { type: 'string' }]))
  t.strictSame(await lint(t,
    descriptor({ name: 'deep', inputs: { a: deep } }),
    descriptor({ name: 'many', inputs: many }),
    descriptor({ name: 'long', inputs: { a: { type: 'string', description: 'x'.repeat(8_000) } } }),
    descriptor({ name: 'loose', inputs: { a: { type: 'object' } } })
  ), [['lint/depth', 'deep'], ['lint/size', 'many'], ['lint/size', 'long'], ['lint/strict', 'loose']])
})

t.test('a schema that has parameters beside its properties gets advice', async t => {
  const text = { type: 'string' }
  const schemas = [
    { name: text, age: { type: 'integer' } }, { type: 'object', city: text }, { type: 'object', properties: { type: text }, additionalProperties: text, default: { type: 'x' }, 'x-ui': { type: 'form' } }
  ]
  const registry = await load(t, ...schemas.map((schema, at) => entry({ name: `tool_${at}`, description: 'What the tool does.', schema })))
  t.match(lintForModels(registry).filter(({ rule }) => rule === 'lint/properties'), [
    { severity: 'note', tool: 'tool_0', message: /has "name", "age" beside "properties"/, fix: /Put parameters into "properties"/ }, { tool: 'tool_1', message: /has "city" beside/ }
  ])
  t.equal(lintForModels(registry).filter(({ rule }) => rule === 'lint/properties').length, 2)
})

t.test('more than 128 published tools, built-in ones included, get advice', async t => {
  const tools = (count: number) => ({ 'm.json': manifestOf(...Array.from({ length: count }, (_, at) => descriptor({ name: `tool_number_${at}` }))) })
  const builtin = (await loadProject(t, tools(0), true)).published().length
  const own = 128 - builtin
  t.strictSame(lintForModels(await loadProject(t, tools(own), true)), [])
  t.match(lintForModels(await loadProject(t, tools(own + 1), true)), [{ severity: 'note', rule: 'lint/count', tool: `tool_number_${own}`, message: /is number 129 of 129 published tools/ }])
})

t.test('tools that models do not see get no advice', async t => {
  t.strictSame(await lint(t, descriptor({ description: 'x', enabled: false }), descriptor({ name: 'gone', description: 'x', module: 'no.such' })), [])
})
