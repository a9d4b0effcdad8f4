import { reach, submit } from '../jobs/submission.ts'
import type { Service } from '../support/service.ts'

const script = (text: string): string => `#!/usr/bin/env node\n${text}\n`
const read = "const input = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));"

/** Programs of the tools that the console's tests and pictures show. */
const workflows = `
workflows:
  nightly:
    name: Nightly report
    steps:
      - {name: fetch, tool: count_words, arguments: {path: orders.csv}}
      - {name: check, tool: count_words, arguments: {path: customers.csv}}
      - {name: join, tool: count_words, depends_on: [fetch, check], arguments: {path: joined.csv}}
      - {name: chart, tool: draw, depends_on: [join]}
      - {name: import, tool: slow_import, depends_on: [join], arguments: {table: report}}
      - {name: send, tool: count_words, depends_on: [chart, import], arguments: {path: sent.md}}
`

/** A picture of five by five pixels. */
const cross = 'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg=='

/** A form, a message of a model, and directories. */
const asked = [
  { name: 'seat', text: 'Which seat?', schema: { type: 'object', properties: { seat: { enum: ['aisle', 'window'] }, row: { type: 'integer' } }, required: ['seat'] } },
  {
    name: 'title',
    kind: 'sampling',
    params: { systemPrompt: 'You write short titles.', messages: [{ role: 'user', content: { type: 'text', text: 'Give a title to a trip from Rome to Oslo.' } }], maxTokens: 50 }
  },
  { name: 'where', kind: 'roots' }
]

export const consoleFiles = {
  'workspace/workflows.yaml': workflows,
  'tools/bin/count_words': script(`${read}console.error('reading ' + input.path); console.log(JSON.stringify({ path: input.path, words: 1204, longest: ['extraordinarily', 'characteristically'], lines: { empty: 3, filled: 96 } }))`),
  'tools/bin/send_report': script("console.error('connecting to the mail host'); console.error('no answer after 3 attempts'); console.error(JSON.stringify({ error: 'the mail host does not answer', host: 'mail.example', attempts: 3 })); process.exit(2)"),
  'tools/bin/slow_import': script("let n = 0; const next = () => { console.error('imported ' + (++n * 50) + ' of 4000 rows'); console.error('::progress ' + Math.min(n * 50, 4000) + '/4000 rows'); setTimeout(n < 300 ? next : () => {}, n < 300 ? 100 : 600_000) }; next()"),
  'tools/bin/plot': script(`${read}require('node:fs').writeFileSync(input.to, Buffer.from('${cross}', 'base64')); console.log(JSON.stringify({ chart: { $file: input.to } }))`),
  'tools/bin/plan_trip': `#!/bin/sh\n[ -n "$TOOLYARD_ANSWER" ] && { paste -sd, "$TOOLYARD_ANSWER" | sed 's/.*/{"answers":[&]}/'; exit; }\necho '${JSON.stringify({ $ask: asked })}'\n`,
  'tools/bin/draw': script(`console.log(JSON.stringify('data:image/png;base64,${cross}'))`)
}

const entry = (name: string, description: string, schema: object, rest: object = {}): object =>
  ({ name, description, schema: { type: 'object', ...schema }, command: [`./tools/bin/${name}`], ...rest })

export const consoleTools = [
  entry('count_words', 'Counts the words of a file of the workspace.', {
    properties: {
      path: { type: 'string', description: 'The file, from the workspace.' },
      longest: { type: 'integer', minimum: 1, maximum: 20, default: 2, description: 'How many of the longest words.' },
      language: { enum: ['en', 'de', 'fr'], description: 'What the words are in.' },
      strict: { type: 'boolean', description: 'Refuse what is no text.' }
    },
    required: ['path']
  }),
  entry('send_report', 'Sends the report of a day by mail.', {
    properties: {
      day: { type: 'string' },
      to: { type: 'array', items: { type: 'string' } },
      host: { type: 'object', description: 'Another mail host.', properties: { name: { type: 'string' }, port: { type: 'integer' } }, required: ['name'] }
    }
  }),
  entry('slow_import', 'Imports rows for as long as it may.', { properties: { table: { type: 'string' } } }, { timeoutSec: 600 }),
  entry('plot', 'Writes the chart of a table as a picture.', { properties: { to: { type: 'string', description: 'The file to write.' } }, required: ['to'] }, { permissions: ['write_files'] }),
  entry('plan_trip', 'Plans a trip.', {}, { asks: true }),
  entry('draw', 'Draws a cross.', {}),
  { name: 'rates', description: 'Tells the rates of a day.\n\nOf the days from 1999 on.', http: { method: 'GET', url: 'https://rates.example/v1/{day}' }, schema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] } }
]

/** The worker serves two queues: what waits in another one stands still. */
export const consoleEnv = { WORKER_QUEUES: 'default,reports', SECRETS_KEY: '0123456789abcdef'.repeat(4) }

/** A page to be shown: its name, its address, and a text that it has once it is there. */
export type Shown = [name: string, hash: string, text: string]

/** Has jobs of all kinds made; the pages that show them. */
export async function fillConsole ({ client }: Service): Promise<Shown[]> {
  const ended = async (body: object): Promise<string> => {
    const { id } = await submit(client, body)
    await reach(client, id, 'succeeded', 'failed', 'cancelled')
    return id
  }
  for (let count = 0; count < 12; count++) await ended({ type: 'agentcli.count_words', input: { path: `notes/day-${count}.md` }, tags: count % 4 === 0 ? ['nightly'] : [] })
  const failed = await ended({ type: 'agentcli.send_report', input: { day: '2026-11-23', to: ['ops@example.com'] }, queue: 'reports' })
  const words = await ended({ type: 'agentcli.count_words', input: { path: 'README.md', longest: 2 }, tags: ['nightly'] })
  const picture = await ended({ type: 'agentcli.draw' })
  const asking = await submit(client, { type: 'agentcli.plan_trip' })
  await reach(client, asking.id, 'input_required')
  await submit(client, { type: 'agentcli.count_words', input: { path: 'late.md' }, delay_ms: 600_000 })
  const running = await submit(client, { type: 'agentcli.slow_import', input: { table: 'orders' } })
  await reach(client, running.id, 'running')
  const workflow = await submit(client, { type: 'workflow.run', input: { workflow: 'nightly' }, timeout_sec: 600 })
  const { results: [batched] } = await client.batch([{ call_id: 'a', name: 'count_words', arguments: { path: 'a.md' } }, { call_id: 'b', name: 'count_words', arguments: { path: 'b.md' } }])
  const { job: { request = '' } } = (await client.request<{ job: { request?: string } }>(`/v1/jobs/${String(batched?.job_id)}`)).body
  await submit(client, { type: 'agentcli.count_words', input: { path: 'weekly.md' }, queue: 'weekly' })
  await client.request('/v1/queues/weekly', { method: 'PATCH', body: { paused: false } })
  await client.request('/v1/files/notes/today.md', { method: 'PUT', body: '# Today\n\n- the import of orders\n- the report by mail\n' })
  await client.request('/v1/files/table.csv', { method: 'PUT', body: 'day,count\n2026-11-23,96\n' })
  await client.request('/v1/secrets/github', { method: 'PUT', body: { value: 'an-example' } })
  await client.request('/v1/secrets/github', { method: 'PUT', body: { value: 'another-example', tenant: 'acme' } })
  const { body: { session } } = await client.request<{ session: { id: string } }>('/v1/sessions', { body: {} })
  const plotted = await ended({ type: 'agentcli.plot', input: { to: 'chart.png' }, session: session.id })
  return [
    ['overview', '#/overview', 'in all'],
    ['sessions', '#/sessions', 'Last used'],
    ['shared', '#/sessions/shared', 'table.csv'],
    ['file', '#/sessions/shared?dir=notes&file=notes%2Ftoday.md', 'the import of orders'],
    ['session', `#/sessions/${session.id}?file=chart.png`, 'image/png'],
    ['job-files', `#/jobs/${plotted}`, 'Files made or changed'],
    ['jobs', '#/jobs', 'slow_import'],
    ['jobs-request', `#/jobs?request=${request}`, '2 jobs'],
    ['workflows', '#/workflows', 'workflow_run'],
    ['workflow', `#/workflows/${workflow.id}`, 'of 6 steps done'],
    ['jobs-failed', '#/jobs?status=failed', 'the mail host does not answer'],
    ['jobs-none', '#/jobs?queue=nothing', 'No job fits'],
    ['tools', '#/tools', 'count_words'],
    ['tool', '#/tools/count_words', 'Where it comes from'],
    ['workers', '#/workers', 'alive'],
    ['keys', '#/keys', 'limited'],
    ['secrets', '#/secrets', 'acme'],
    ['audit', '#/audit', 'resumed the queue'],
    ['job', `#/jobs/${words}`, 'Output'],
    ['job-failed', `#/jobs/${failed}`, 'the mail host does not answer'],
    ['job-running', `#/jobs/${running.id}`, 'imported 100'],
    ['job-picture', `#/jobs/${picture}`, 'Output'],
    ['job-asks', `#/jobs/${asking.id}`, 'Which seat?']
  ]
}
