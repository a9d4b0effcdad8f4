import type { ToolList } from '@toolyard/contract'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { withoutBox } from '../sandbox/boxed-tools.ts'
import { waitFor } from '../support/condition.ts'
import { hasPython } from '../support/python.ts'
import { createService } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'

const skip = hasPython() ? false : 'python3 is not installed'
const says = (text: string, first = ''): string => `${first}
from toolyard import Tool

class Says(Tool):
    def execute(self):
        return ${JSON.stringify(text)}
`
const bundle = (tools: object[]): string => JSON.stringify({ schema_version: '1.0', metadata: { name: 'test', description: 'A bundle of a test' }, tools })
const entry = (name: string, module: string, rest: object = {}): object => ({ name, description: 'Says something', module, ...rest })
const files = {
  ...programs,
  'base/sound.py': says('the earlier one'),
  'base/manifest.json': bundle([entry('layered', 'sound')]),
  'later/raises.py': says('never', 'raise RuntimeError("no such device")'),
  'later/lacks.py': says('mended', 'import a_module_that_nobody_has'),
  'later/syntax.py': `${says('never')}\ndef broken(:\n`,
  'later/dynamic.py': 'from toolyard import Tool\nNot = type("Not", (), {})\n',
  'later/unbuilt.py': says('never').replace('    def execute', '    def __init__(self):\n        pass\n\n    def execute'),
  'later/works.py': says('works'),
  'audit/pack/inside.py': says('never'),
  'audit/pack/manifest.json': bundle([entry('inside', 'inside')]),
  'later/manifest.json': bundle([
    entry('layered', 'raises'), entry('lacks', 'lacks'), entry('syntax', 'syntax'), entry('no_class', 'dynamic', { class_name: 'Not' }), entry('unbuilt', 'unbuilt'), entry('works', 'works')
  ])
}
const manifests = ['tools.json', 'base/manifest.json', 'later/manifest.json', 'audit/pack/manifest.json']
const { client, dir, workers } = await createService(t, { files, tools: entries, manifests, env: { LOG_LEVEL: 'info' } })
const names = async (): Promise<string[]> => (await client.request<ToolList>('/v1/agent-tools')).body.tools.map(tool => tool.function.name)
const broken = ['lacks', 'syntax', 'no_class', 'unbuilt']

t.test('P29, X16 a tool whose module or class can\'t be loaded is not published; its siblings are', { skip }, async t => {
  const listed = await waitFor('the workers to have tried', async () => {
    const found = await names()
    return !broken.some(name => found.includes(name)) && found
  })
  for (const name of ['layered', 'works', 'echo']) t.ok(listed.includes(name), name)
})

t.test('P29, X16 a call of such a tool gets the reason as its error', { skip }, async t => {
  await waitFor('the workers to have tried', async () => !(await names()).includes('unbuilt'))
  const { results } = await client.batch([...broken, 'works'].map((name, at) => ({ call_id: String(at), name })))
  t.same(results.map(({ ok, error }) => ok || error?.code), [...broken.map(() => 'TOOL_UNAVAILABLE'), true])
  t.match(results[0]?.error?.message, /'lacks' can't run: tools\[1\]\.module import failed \(.*a_module_that_nobody_has/)
  t.match(results[1]?.error?.message, /import failed \(SyntaxError/)
  t.match(results[2]?.error?.message, /class_name 'Not' must inherit from Tool/)
  t.match(results[3]?.error?.message, /class 'Says' cannot be constructed: TypeError/)
})

t.test('X16 a later layer\'s tool that can\'t be loaded leaves the earlier one in place', { skip }, async t => {
  const answer = await waitFor('the earlier one', async () => {
    const { results } = await client.batch([{ call_id: '1', name: 'layered' }])
    return results[0]?.ok === true && results[0]
  })
  t.equal(answer.output, 'the earlier one')
})

t.test('P29 a module that is mended is published again', { skip }, async t => {
  await waitFor('the workers to have tried', async () => !(await names()).includes('lacks'))
  await writeFile(join(dir, 'later/lacks.py'), says('mended'))
  await waitFor('the tool to be back', async () => (await names()).includes('lacks'))
  t.match((await client.batch([{ call_id: '1', name: 'lacks' }])).results[0], { ok: true, output: 'mended' })
})

t.test('P29 a module that breaks while the service runs is not published any more', { skip }, async t => {
  await waitFor('it is published', async () => (await names()).includes('works'))
  await writeFile(join(dir, 'later/works.py'), says('works', 'raise RuntimeError("broken now")'))
  await waitFor('the tool to be gone', async () => !(await names()).includes('works'))
  t.match((await client.batch([{ call_id: '1', name: 'works' }])).results[0], { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /broken now/ } })
})

t.test('a tool that could not be tried, for example without a sandbox, is in the log once, with the reason', { skip: skip === false ? await withoutBox() : skip }, async t => {
  const lines = async (): Promise<string[]> => (
    (await workers[0]?.output() ?? '').split('\n').filter(line => line.includes('could not be tried') && line.includes('"inside"'))
  )
  const [line] = await waitFor('a line of the log', async () => {
    const found = await lines()
    return found.length > 0 && found
  })
  t.match(JSON.parse(line ?? ''), { level: 40, tool: 'inside', reason: /^the sandbox could not be set up: .*where the service keeps files of its own/ })
  t.equal((await lines()).length, 1)
})
