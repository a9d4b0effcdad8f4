import t from 'tap'
import type { CompileSchema } from '@toolyard/executors'
import { createFixture, outputOf, python } from './fixture.ts'

const outputs = { clean: { type: 'boolean' }, summary: { type: 'string' } }

/** Knows `required` and the `type` of properties, as far as these tests need it, and counts how often it compiles. */
function createCompiler (): { compile: CompileSchema, count: () => number } {
  let count = 0
  const compile: CompileSchema = schema => {
    count += 1
    const { properties, required } = schema as { properties: Record<string, { type: string }>, required: string[] }
    return async value => {
      const missing = required.filter(name => !(name in value)).map(name => ({ path: `/${name}`, message: 'is required' }))
      const wrong = required.filter(name => name in value && !hasType(value[name], properties[name]?.type)).map(name => ({ path: `/${name}`, message: `must be ${properties[name]?.type}` }))
      const issues = [...missing, ...wrong]
      return await Promise.resolve(issues.length === 0 ? { ok: true } : { ok: false, issues })
    }
  }
  return { compile, count: () => count }
}

function hasType (value: unknown, type: string | undefined): boolean {
  const found: string = typeof value
  return found === type
}

t.test('P21 an output that is not as declared is a warning in the log', python, async t => {
  const fixture = await createFixture(t, { compileSchema: createCompiler().compile })
  t.same(outputOf(await fixture.execute('return {"clean": True, "summary": "", "more": 1}', { outputs })), { clean: true, summary: '', more: 1 })
  t.same(fixture.logged, [])
  t.same(outputOf(await fixture.execute('return {"clean": "yes"}', { outputs })), { clean: 'yes' })
  t.same(outputOf(await fixture.execute('return [1]', { outputs })), [1])
  t.same(fixture.logged, ['warning: the output is not as declared: /summary is required, /clean must be boolean', 'warning: the output is not an object'])
})

t.test('P21 with strict_outputs an output that is not as declared is OUTPUT_INVALID', python, async t => {
  const fixture = await createFixture(t, { compileSchema: createCompiler().compile, maxOutputBytes: 1_024 })
  const run = { outputs, strictOutputs: true }
  t.same(outputOf(await fixture.execute('return {"clean": True, "summary": ""}', run)), { clean: true, summary: '' })
  t.same(await fixture.execute('return {"clean": True}', run), { ok: false, error: { code: 'OUTPUT_INVALID', message: 'the output is not as declared: /summary is required' } })
  t.same(await fixture.execute('return {"clean": True, "summary": "x" * 2_000}', run), { ok: false, error: { code: 'OUTPUT_INVALID', message: 'the output is too long to be checked' } })
  t.same(fixture.logged, [])
})

t.test('X16 P21 an output with success: false is not checked', python, async t => {
  const fixture = await createFixture(t, { compileSchema: createCompiler().compile })
  t.same(outputOf(await fixture.execute('return {"success": False}', { outputs, strictOutputs: true })), { success: false })
})

t.test('P21 a schema is compiled once for all calls of a tool', python, async t => {
  const { compile, count } = createCompiler()
  const fixture = await createFixture(t, { compileSchema: compile })
  fixture.source('tool.py', 'class Sample(Tool):\n    def execute(self): return {"clean": True, "summary": ""}')
  const run = fixture.tool({ outputs })
  for (const round of [1, 2, 3]) t.ok((await fixture.runTool(run)).ok, `round ${round}`)
  t.equal(count(), 1)
})
