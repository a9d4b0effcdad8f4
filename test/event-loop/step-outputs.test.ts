import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hasPython } from '../support/python.ts'
import { createService } from '../support/service.ts'
import { endOf } from './job-end.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'
import { worstTexts } from './worst-texts.ts'

const python = `import json
from toolyard import Tool

class Big(Tool):
    def execute(self):
        return {"a": json.load(open("out"))}
`
const bundle = {
  schema_version: '1.0',
  metadata: { name: 'test', description: 'A bundle of a test' },
  tools: [{ name: 'big', description: 'Returns what is in a file.', module: 'mods.big', outputs: { a: { type: 'array', items: { type: ['object', 'array', 'number', 'string'] } } } }]
}
const large = (steps: number): string => Array.from({ length: steps }, () => '{tool: show}').join(', ')
const workflows = `
workflows:
  twice: {steps: [{name: a, tool: show}, {name: b, tool: none, arguments: {x: "\${a}"}}], output: 1}
  part: {steps: [{name: a, tool: show}, {name: b, tool: none, arguments: {x: "\${a[0]}"}}], output: "\${a[1]}"}
  text: {steps: [{name: a, tool: show}], output: "it is \${a}"}
  whole: {steps: [{name: a, tool: show}], output: "\${a}"}
  params: {steps: [{name: b, tool: none, arguments: {x: ["\${p}", "\${p}", "\${p}", "\${p}", "\${p}", "\${p}", "\${p}", "\${p}", "\${p}", "\${p}", "\${p}", "\${p}"]}}]}
  few: {steps: [${large(30)}], output: [${Array.from({ length: 30 }, (_, at) => `"\${step${at + 1}[0]}"`).join(', ')}]}
  large: {steps: [${large(40)}], output: [${Array.from({ length: 40 }, (_, at) => `"\${step${at + 1}[0]}"`).join(', ')}]}
  many: {steps: [${Array.from({ length: 100 }, () => '{tool: less}').join(', ')}]}
`
const env = turnEnvironment()
const service = await createService(t, {
  files: {
    'tools/bin/show': '#!/bin/sh\ncat out\n',
    'tools/bin/none': '#!/bin/sh\necho\n',
    'tools/bin/less': '#!/bin/sh\ncat less\n',
    'bundle/mods/big.py': python,
    'bundle/manifest.json': JSON.stringify(bundle),
    'workspace/workflows.yaml': workflows
  },
  tools: ['show', 'none', 'less'].map(name => ({ name, description: 'A tool.', command: [`./tools/bin/${name}`], schema: { type: 'object' } })),
  manifests: hasPython() ? ['tools.json', 'bundle/manifest.json'] : ['tools.json'],
  env
})
const { client } = service
const leavesLoopsFree = turnsOf(service, env)
const megabyte = 1_048_576

const write = (name: string, text: string): void => { writeFileSync(join(service.dir, 'workspace', name), text) }

/** Runs a workflow; gives its status. */
async function run (input: object): Promise<string> {
  const { body } = await client.request<{ job?: { id: string } }>('/v1/jobs', { body: { type: 'workflow.run', input } })
  return await endOf(client, body.job?.id ?? '')
}

t.test('promise 10: no output of a step holds up the worker of a workflow', async t => {
  for (const what of ['lists', 'numbers', 'fields', 'letters of three bytes'] as const) {
    write('out', worstTexts(megabyte - 100)[what] ?? '')
    const isList = what !== 'fields' && !what.startsWith('letters')
    const expected = {
      // A value with too many parts is no argument.
      twice: what === 'numbers' || what.startsWith('letters') ? 'succeeded' : 'failed',
      part: isList ? 'succeeded' : 'failed',
      text: 'succeeded',
      whole: 'succeeded'
    }
    for (const [workflow, status] of Object.entries(expected)) {
      await leavesLoopsFree(t, `${what} in the workflow ${workflow}`, async () => { t.equal(await run({ workflow }), status, `${workflow} with ${what}`) })
    }
  }
})

t.test('promise 10: neither many outputs nor parameters that are inserted many times hold up a worker', async t => {
  for (const [size, what] of [[11_990, 'lists'], [4_000, 'fields']] as const) {
    write('less', worstTexts(size)[what] ?? '')
    await leavesLoopsFree(t, `${size} bytes of ${what} as outputs of 100 steps`, async () => { t.equal(await run({ workflow: 'many' }), 'succeeded') })
  }
  for (const [items, status] of [[2_000, 'succeeded'], [29_000, 'failed']] as const) {
    await leavesLoopsFree(t, `12 times ${items} objects of a parameter`, async () => {
      t.equal(await run({ workflow: 'params', params: { p: Array.from({ length: items }, () => ({})) } }), status)
    })
  }
})

t.test('promise 10: no number of parameters that a workflow declares holds up a worker', async t => {
  // As many as fit into a file of 256 KiB.
  const declared = Array.from({ length: 14_000 }, (_, index) => `{name: p${index}}`)
  for (const [name, params, status] of [['each', declared, 'succeeded'], ['doubled', [...declared, '{name: p13999}'], 'failed']] as const) {
    write(`${name}.yaml`, `workflows: {w: {params: [${params.join()}], steps: [{tool: none}]}}`)
    await leavesLoopsFree(t, `${params.length} parameters`, async () => { t.equal(await run({ workflow: 'w', workflow_file: `${name}.yaml` }), status) })
  }
})

t.test('promise 10: no values of a workflow file, nor those that its aliases stand for, hold up a worker', async t => {
  const files = {
    numbers: ['1,'.repeat(120_000), '', 'succeeded'],
    texts: ['"",'.repeat(80_000), '', 'succeeded'],
    'values by aliases': ['1,'.repeat(20_000), '*a,'.repeat(7), 'succeeded'],
    'more values by aliases than a request may have': ['1,'.repeat(20_000), '*a,'.repeat(30), 'failed']
  } as const
  for (const [what, [values, aliases, status]] of Object.entries(files)) {
    write('values.yaml', `workflows: {w: {steps: [{tool: none}, {tool: none, needs: step1, arguments: {a: &a [${values}], b: [${aliases}]}}]}}`)
    await leavesLoopsFree(t, what, async () => { t.equal(await run({ workflow: 'w', workflow_file: 'values.yaml' }), status, what) })
  }
})

t.test('promise 10: no output holds up the worker that checks it against its declaration', { skip: !hasPython() }, async t => {
  for (const size of [megabyte - 100, 85_000]) {
    for (const what of ['lists', 'numbers', 'fields', 'objects of all shapes', 'equal letters'] as const) {
      const text = worstTexts(size)[what] ?? ''
      write('out', /^[[{]/.test(text) ? text : JSON.stringify(text))
      await leavesLoopsFree(t, `${size} bytes of ${what} with declared outputs`, async () => { t.match(await client.call('big'), { ok: true }) })
    }
  }
})

t.test('promise 10: outputs of a megabyte that one value names neither hold up a worker nor fill its memory', async t => {
  write('out', JSON.stringify([1, 'x'.repeat(megabyte - 100)]))
  await leavesLoopsFree(t, 'outputs of 30 steps', async () => { t.equal(await run({ workflow: 'few' }), 'succeeded') })
  await leavesLoopsFree(t, 'outputs of 40 steps', async () => { t.equal(await run({ workflow: 'large' }), 'failed', 'they have more than 32 MiB') })
})
