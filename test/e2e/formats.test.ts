import type { SkillList, ToolList } from '@toolyard/contract'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { hasPython } from '../support/python.ts'
import { createService } from '../support/service.ts'
import { entries, programs } from './tools.ts'

const python = `from toolyard import Tool

class Greeter(Tool):
    def execute(self, name="world"):
        print("greeting", name)
        return {"greeting": f"Hello, {name}!", "by": self.name}
`
const manifest = {
  schema_version: '1.0',
  metadata: { name: 'test', description: 'A bundle of a test' },
  tools: [{
    name: 'greet', description: 'Greets somebody', module: 'mods.greeter', inputs: { name: { type: 'string', default: 'world' } }, outputs: { greeting: { type: 'string' } }
  }]
}
const skill = {
  tools: [{ name: 'count_lines', description: 'Counts lines', parameters: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] } }, {
    name: 'count_default', description: 'Counts lines', parameters: { type: 'object', properties: { file: { type: 'string', default: 'lines.txt' }, times: { type: 'integer' } } }
  }],
  allowlist: { wc: ['-l'] },
  execution: [{ tool: 'count_lines', binary: 'wc', subcommand: '-l', args: [{ param: 'file' }] }, { tool: 'count_default', binary: 'wc', subcommand: '-l', args: [{ param: 'file' }] }]
}
const files = {
  ...programs,
  'workspace/lines.txt': 'a\nb\nc\n',
  'bundle/mods/greeter.py': python,
  'bundle/manifest.json': JSON.stringify(manifest),
  'skills/counting/SKILL.md': '---\nname: counting\ndescription: Counts things\n---\nUse count_lines.\n',
  'skills/counting/tools.json': JSON.stringify(skill)
}
const manifests = ['tools.json', 'bundle/manifest.json', 'skills']
const service = await createService(t, { files, tools: entries, manifests })
const { client } = service
const names = async (): Promise<string[]> => (await client.request<ToolList>('/v1/agent-tools')).body.tools.map(tool => tool.function.name)

t.test('P3, S39, X13 one batch calls a command, a Python tool, a skill tool and a built-in', { skip: hasPython() ? false : 'python3 is not installed' }, async t => {
  const { results } = await client.batch([
    { call_id: '1', name: 'echo', arguments: { a: 1 } },
    { call_id: '2', name: 'greet', arguments: { name: 'Ada' } },
    { call_id: '3', name: 'count_lines', arguments: { file: 'lines.txt' } },
    { call_id: '4', name: 'data_file_read', arguments: { path: 'lines.txt' } }
  ])
  t.same(results.map(result => result.ok), [true, true, true, true], JSON.stringify(results))
  t.same(results[0]?.output, { a: 1 })
  t.same(results[1]?.output, { greeting: 'Hello, Ada!', by: 'greet' })
  t.equal(results[2]?.output, '3 lines.txt\n')
  t.match(results[3]?.output, { content_text: 'a\nb\nc\n' })
})

t.test('SC5, SC25, X18 errors in arguments of a skill use the words of its format', async t => {
  const { results } = await client.batch([
    { call_id: '1', name: 'count_lines', arguments: {} },
    { call_id: '2', name: 'count_lines', arguments: { file: ['lines.txt'] } },
    { call_id: '3', name: 'count_lines', arguments: { file: 5 } }
  ])
  t.match(results.map(({ error }) => error), [
    { code: 'INVALID_ARGUMENTS', message: 'missing parameter: file', details: { issues: [{ path: '/file' }] } },
    { code: 'INVALID_ARGUMENTS', message: 'parameter file must be a string, number, or boolean' },
    { code: 'INVALID_ARGUMENTS', message: /^Arguments do not fit the schema: \/file / }
  ])
})

t.test('SC5, X18 a parameter of a skill that has a default is not missing', async t => {
  const { results } = await client.batch([{ call_id: '1', name: 'count_default' }, { call_id: '2', name: 'count_default', arguments: { times: 'x' } }])
  t.match(results, [{ ok: true, output: '3 lines.txt\n' }, { error: { message: 'Arguments do not fit the schema: /times must be integer' } }])
})

t.test('S2, S40 /v1/skills lists the skills, with a text for the system prompt', async t => {
  const { body } = await client.request<SkillList>('/v1/skills')
  t.same(body.skills, [{ name: 'counting', description: 'Counts things', tools: ['count_lines', 'count_default'] }])
  t.match(body.prompt, /counting[\s\S]*Use count_lines\./)
})

t.test('?strict=true serves the strict form, and null is accepted for a missing argument', { skip: hasPython() ? false : 'python3 is not installed' }, async t => {
  const { body } = await client.request<ToolList>('/v1/agent-tools?strict=true')
  const greet = body.tools.find(tool => tool.function.name === 'greet')
  t.equal(greet?.function.strict, true)
  t.match(greet?.function.parameters, { additionalProperties: false, required: ['name'] })
  t.match((await client.call('greet', { name: null })).output, { greeting: 'Hello, world!' })
  t.equal((await client.request('/v1/agent-tools?strict=maybe')).status, 400)
})

t.test('X24 a changed manifest is served by API and worker, and a broken one leaves the last good one', async t => {
  const write = async (content: string): Promise<void> => {
    await writeFile(join(service.dir, 'next.json'), content)
    await rename(join(service.dir, 'next.json'), join(service.dir, 'tools.json'))
  }
  await write(JSON.stringify({ tools: [...entries, { name: 'newcomer', command: ['./tools/bin/echo'] }] }))
  await waitFor('the new tool is listed', async () => (await names()).includes('newcomer'))
  await waitFor('the worker has it', async () => (await client.call('newcomer')).ok)

  await write('{"tools": [{"name": "broken", "command": []}]}')
  await waitFor('/ready tells of it', async () => (await client.request('/ready')).text.includes('command must have at least program name'))
  t.ok((await names()).includes('newcomer'), 'what the fault is about is served as it was')
  const later = async (): Promise<string | undefined> => (await client.batch([{ call_id: 'a', name: 'later' }])).results[0]?.error?.message
  t.match(await later(), /^Tool 'later' not found in registry\. A manifest of the service has faults, which may be why/)
  t.equal((await client.request('/ready')).status, 200)
  t.match((await client.request('/metrics').catch((error: unknown) => error)), { status: 200, text: /toolyard_registry_reload_refused 1/ })
  t.match(await service.api.output(), /manifests: the new version has faults; the tools that they are about, all of \S+tools\.json, are served as they were: \S+tools\.json\S*: .*command must have at least program name.*\. Write /)

  await write(JSON.stringify({ tools: entries }))
  await waitFor('the mended version is served', async () => !(await names()).includes('newcomer'))
  t.notMatch((await client.request('/ready')).text, /broken/)
  t.equal(await later(), "Tool 'later' not found in registry")
})

t.test('SIGHUP reloads at once', async t => {
  service.api.child.kill('SIGHUP')
  await waitFor('a reload is counted', async () => /toolyard_registry_reloads_total\{result="unchanged"\} [1-9]/.test((await client.request('/metrics')).text))
  t.equal((await client.request('/health')).status, 200)
})
