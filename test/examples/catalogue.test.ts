import { Toolyard } from '@toolyard/client'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { programs } from '../e2e/tools.ts'
import { connect, eras, textAt } from '../mcp/clients.ts'
import { createService, testKeys } from '../support/service.ts'
import { startModelServer } from './model-server.ts'
import type { Script } from './script.ts'

/*
 * An agent whose list has three of a thousand tools: it finds the one that it needs, calls it, and reads its output of
 * 1 MB to the end, with the libraries of the providers.
 */

/** The whole list of the agent. */
const short = ['search_tools', 'call_tool', 'output_read']
const ledger = Array.from({ length: 20_000 }, (_, at) => `line ${String(at).padStart(6, '0')} of the ledger of warehouse-ö, which is long`).join('\n')
const deeds = ['create', 'delete', 'list', 'update', 'archive', 'approve', 'assign', 'read', 'find', 'count']
const entries = Array.from({ length: 999 }, (_, at) => ({
  name: `${deeds[at % deeds.length] ?? ''}_parcel_${at}`, description: `Does something with parcel number ${at}.`, schema: { type: 'object', properties: { id: { type: 'integer' } } }, command: ['./tools/bin/echo']
}))
const exporter = {
  name: 'export_ledger', description: 'Exports the ledger of a warehouse as text.', schema: { type: 'object', properties: { warehouse: { type: 'string' } }, required: ['warehouse'] }, command: ['./tools/bin/ledger']
}
const program = `#!/usr/bin/env node
process.stdout.write(Array.from({ length: 20_000 }, (_, at) => 'line ' + String(at).padStart(6, '0') + ' of the ledger of warehouse-ö, which is long').join('\\n'))
`
const service = await createService(t, {
  tools: [...entries, exporter], files: { ...programs, 'tools/bin/ledger': program }, env: { MAX_OUTPUT_BYTES: '4194304' }
})
const toolyard = new Toolyard({ url: service.api.address, apiKey: testKeys.admin })
const most = 200_000

/** A model that searches, calls what it found, and reads on from what the notice of the cut answer names. */
function reader (): { script: Script, read: () => string } {
  const parts: string[] = []
  const script: Script = answers => {
    const last = answers.at(-1) ?? ''
    const id = `call_${answers.length}`
    if (answers.length === 0) return { calls: [{ id, name: 'search_tools', args: { query: 'export the ledger of a warehouse' } }] }
    if (answers.length === 1) return { calls: [{ id, name: 'call_tool', args: { name: outputIn<{ tools: Array<{ name: string }> }>(last).tools[0]?.name, arguments: { warehouse: 'ö' } } }] }
    const [, job = ''] = /"job_id":\s*"([0-9a-f-]{36})"/.exec(last.replaceAll('\\"', '"')) ?? []
    if (answers.length === 2) return { calls: [{ id, name: 'output_read', args: { job_id: job, offset: 0, limit: most } }] }
    const { text, next_offset: next } = outputIn<{ text: string, next_offset?: number }>(last)
    parts.push(text)
    const [, first = ''] = /"job_id":\s*"([0-9a-f-]{36})"/.exec((answers[1] ?? '').replaceAll('\\"', '"')) ?? []
    return next === undefined ? { text: `Read ${parts.length} parts.` } : { calls: [{ id, name: 'output_read', args: { job_id: first, offset: next, limit: most } }] }
  }
  return { script, read: () => parts.join('') }
}

/** The output in what a model is answered. */
function outputIn<T> (answer: string): T {
  const value = JSON.parse(answer) as { result?: T }
  return value.result ?? value as T
}

const examples = createRequire(fileURLToPath(new URL('../../../examples/package.json', import.meta.url)))
async function library<T> (name: string): Promise<T> {
  return (await import(pathToFileURL(examples.resolve(name)).href) as { default: T }).default
}

type Library = new (options: { baseURL: string, apiKey: string }) => {
  chat: { completions: { create: (body: object) => Promise<{ choices: Array<{ message: { content: string } }> }> } }
  responses: { create: (body: object) => Promise<{ output: object[], output_text: string }> }
  messages: { create: (body: object) => Promise<{ role: string, content: Array<{ text?: string }> }> }
}

/** The three tools in the form of a provider. */
async function tools (format: 'chat' | 'responses' | 'anthropic'): Promise<object[]> {
  const all = await toolyard.tools(format)
  t.ok(all.length > 1_000, 'a list that no provider takes')
  return all.filter(tool => short.includes('function' in tool ? tool.function.name : 'name' in tool ? String(tool.name) : ''))
}

/** Runs an agent until its model makes no more calls. */
const agents: Record<string, (address: string) => Promise<string>> = {
  chat: async address => {
    const openai = new (await library<Library>('openai'))({ baseURL: `${address}/v1`, apiKey: 'none' })
    const messages: object[] = [{ role: 'user', content: 'Read me the ledger.' }]
    for (;;) {
      const answer = await openai.chat.completions.create({ model: 'scripted', messages, tools: await tools('chat') })
      const answers = await toolyard.invoke(answer, { maxOutputChars: most })
      const message = answer.choices[0]?.message
      if (answers.length === 0) return message?.content ?? ''
      messages.push(message ?? {}, ...answers)
    }
  },
  responses: async address => {
    const openai = new (await library<Library>('openai'))({ baseURL: `${address}/v1`, apiKey: 'none' })
    const input: object[] = [{ role: 'user', content: 'Read me the ledger.' }]
    for (;;) {
      const answer = await openai.responses.create({ model: 'scripted', input, tools: await tools('responses') })
      const answers = await toolyard.invoke(answer as object, { maxOutputChars: most })
      if (answers.length === 0) return answer.output_text
      input.push(...answer.output, ...answers)
    }
  },
  anthropic: async address => {
    const anthropic = new (await library<Library>('@anthropic-ai/sdk'))({ baseURL: address, apiKey: 'none' })
    const messages: object[] = [{ role: 'user', content: 'Read me the ledger.' }]
    for (;;) {
      const answer = await anthropic.messages.create({ model: 'scripted', max_tokens: 1_024, messages, tools: await tools('anthropic') })
      const answers = await toolyard.invoke(answer as object, { maxOutputChars: most })
      if (answers.length === 0) return answer.content[0]?.text ?? ''
      messages.push({ role: answer.role, content: answer.content }, ...answers)
    }
  }
}

for (const [provider, run] of Object.entries(agents)) {
  t.test(`an agent on ${provider} with three tools of a thousand finds one, calls it, and reads its 1 MB to the end`, async t => {
    const { script, read } = reader()
    const model = await startModelServer(t, script)
    t.match(await run(model.address), /^Read [5-9] parts\.$/)
    t.same(model.faults, [])
    t.equal(read(), ledger)
  })
}

for (const era of eras) {
  t.test(`a client of MCP (${era}) reads the same by the same three tools`, async t => {
    const { client } = await connect(t, service.api.address, testKeys.admin, era, {}, `?max_output_chars=${most}`)
    const { script, read } = reader()
    const answers: string[] = []
    for (let turn = script(answers); 'calls' in turn; turn = script(answers)) {
      const { name = '', args = {} } = turn.calls[0] ?? {}
      const result = await client.callTool({ name, arguments: args })
      // A cut is told in a text of its own.
      answers.push((result.content as unknown[]).map((_, at) => textAt(result, at)).join('\n'))
    }
    t.equal(read(), ledger)
  })
}
