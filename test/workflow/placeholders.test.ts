/* eslint-disable no-template-curly-in-string -- they are placeholders of workflows */
import type { StepStart, StepState, WorkflowSteps } from '@toolyard/executors'
import { readYaml } from '@toolyard/manifests'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFixture } from '../executors/fixture.ts'

const fixture = createFixture(t, { builtins: { workflows: { readYaml } } })

/** Runs a workflow of one step `in` whose output is given, and one step `out`, and tells what `out` is called with. */
async function callOf (args: object, output: unknown, params: object = {}): Promise<{ arguments?: unknown, error?: string }> {
  const file = { workflows: { w: { steps: [{ name: 'in', tool: 'any' }, { name: 'out', tool: 'any', needs: ['in'], arguments: args }] } } }
  writeFileSync(join(fixture.workspace, 'workflows.yaml'), JSON.stringify(file))
  const started: StepStart[] = []
  const done: StepState = { state: 'succeeded', jobId: '1', output: async () => ({ json: JSON.stringify(output) }), shownOutput: async () => JSON.stringify(output) }
  const steps: WorkflowSteps = {
    now: () => Date.now(),
    keep: make => make(),
    resolve: () => ({ tool: 'any', type: 'any', queue: 'default' }),
    progress: async () => ({ byName: new Map([['in', done]]), settled: 1 }),
    personWaits: async () => [],
    start: async step => {
      started.push(step)
      return '2'
    },
    cancel: async () => {}
  }
  const outcome = await fixture.runBuiltin('workflow.run', { workflow: 'w', params }, { steps })
  if (outcome.ok) throw new Error('the workflow ended')
  return outcome.wait === undefined ? { error: outcome.error.message } : { arguments: started[0]?.arguments }
}

t.test('RC43 a text that is only a placeholder keeps the type of its value; in a longer text values are written out', async t => {
  const names = { 'a.b': { é: [7] }, '@odata.count': 8, '': 9, 0: 'zero' }
  const output = { names, n: 1.5, yes: false, nothing: null, list: [{ deep: { text: 'x' } }, 2], 'with-dash': '-', __proto__: 1, 0: 'zero' }
  const cases: Array<[unknown, unknown]> = [
    ['${in.n}', 1.5], ['${in.yes}', false], ['${in.nothing}', null], ['${in.list}', output.list], ['${in}', output],
    ['${in.list[0].deep.text}', 'x'], ['${in.list[1]}', 2], ['${in.list.1}', 2], ['${in.with-dash}', '-'], ['${ in.n }', 1.5], ['${in.0}', 'zero'],
    ['n=${in.n}, yes=${in.yes}, nothing=${in.nothing}, list=${in.list[0]}', 'n=1.5, yes=false, nothing=null, list={"deep":{"text":"x"}}'],
    ['${in.names["a.b"]["é"][0]}', 7], ['${in["names"]["@odata.count"]}', 8], ['<${in.names[""]}>', '<9>'], ['${in.names["0"]}', 'zero'], ['${in["list"]["1"]}', 2],
    ['${p}', { a: ['${in.n}'] }], ['<${q}>', '<${in.n}>'], ['$${in.n} costs $5', '${in.n} costs $5'], ['$${${in.n}}', '${1.5}'], ['', ''], ['}{$', '}{$'],
    [{ a: [{ b: '${in.n}' }], c: 7, d: null }, { a: [{ b: 1.5 }], c: 7, d: null }]
  ]
  const params = { p: { a: ['${in.n}'] }, q: '${in.n}' }
  const { arguments: given } = await callOf({ list: cases.map(([text]) => text) }, output, params)
  t.same((given as { list: unknown[] }).list, cases.map(([, value]) => value), 'what a value holds is not replaced again')
})

t.test('RC43 a placeholder that names nothing is an error with its place', async t => {
  const error = async (text: string, output: unknown = { a: { b: 1 }, list: ['x'] }): Promise<string | undefined> => (await callOf({ x: [{ y: text }] }, output, { p: 'text' })).error
  const at = "step 'out': arguments.x[0].y: "
  t.equal(await error('${i}'), `${at}'\${i}' names no parameter (p) and no step (in, out)`)
  t.equal(await error('${in.c}'), `${at}'\${in.c}': the output of step 'in' has no 'c' there (known: a, list)`)
  t.equal(await error('a ${in.a.b.c} b'), `${at}'\${in.a.b.c}': the output of step 'in' has no 'c' there (a number)`)
  t.equal(await error('${in.list[1]}'), `${at}'\${in.list[1]}': the output of step 'in' has no '1' there (a list of 1)`)
  t.equal(await error('${in.list.length}'), `${at}'\${in.list.length}': the output of step 'in' has no 'length' there (a list of 1)`)
  t.equal(await error('${p.constructor}'), `${at}'\${p.constructor}': the parameter 'p' has no 'constructor' there (a string)`)
  t.equal(await error('${in["toString"]}'), `${at}'\${in["toString"]}': the output of step 'in' has no 'toString' there (known: a, list)`)
  t.equal(await error('${in.list["length"]}'), `${at}'\${in.list["length"]}': the output of step 'in' has no 'length' there (a list of 1)`)
  t.equal(await error('${in.toString}'), `${at}'\${in.toString}': the output of step 'in' has no 'toString' there (known: a, list)`)
  for (const text of ['${}', '${a b}', '${in..a}', '${in.a', '${1}', '${in["a]}', '${in[a]}', '${["a"]}', '${in.é}']) {
    t.match(await error(text), `${at}'${text}' is no placeholder (write `)
  }
  t.equal(await error('${out}'), 'these steps wait for each other: out')
})

t.test('RC43 placeholders can\'t multiply an output without bound', async t => {
  const { error } = await callOf({ x: Array.from({ length: 100 }, () => '${in.text}') }, { text: 'y'.repeat(20_000) })
  t.match(error, /^step 'out': arguments\.x\[\d+\]: longer than 1048576 characters once its placeholders are replaced: name a part of the output$/)
})
