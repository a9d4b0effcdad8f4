import { reach, submit } from '../jobs/submission.ts'
import type { Service } from '../support/service.ts'

const script = (text: string): string => `#!/usr/bin/env node\n${text}\n`
const read = "const input = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));"

/** Programs of the tools that the console's tests and pictures show. */
export const consoleFiles = {
  'tools/bin/count_words': script(`${read}console.error('reading ' + input.path); console.log(JSON.stringify({ path: input.path, words: 1204, longest: ['extraordinarily', 'characteristically'], lines: { empty: 3, filled: 96 } }))`),
  'tools/bin/send_report': script("console.error('connecting to the mail host'); console.error('no answer after 3 attempts'); console.error(JSON.stringify({ error: 'the mail host does not answer', host: 'mail.example', attempts: 3 })); process.exit(2)"),
  'tools/bin/slow_import': script("let n = 0; const next = () => { console.error('imported ' + (++n * 50) + ' of 4000 rows'); setTimeout(next, 100) }; next()"),
  'tools/bin/draw': script("console.log(JSON.stringify('data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg=='))")
}

const entry = (name: string, description: string, schema: object, rest: object = {}): object =>
  ({ name, description, schema: { type: 'object', ...schema }, command: [`./tools/bin/${name}`], ...rest })

/** Their entries of the manifest. */
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
  entry('send_report', 'Sends the report of a day by mail.', { properties: { day: { type: 'string' }, to: { type: 'array', items: { type: 'string' } } } }),
  entry('slow_import', 'Imports rows for as long as it may.', { properties: { table: { type: 'string' } } }, { timeoutSec: 600 }),
  entry('draw', 'Draws a cross.', {})
]

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
  await submit(client, { type: 'agentcli.count_words', input: { path: 'late.md' }, delay_ms: 600_000 })
  const running = await submit(client, { type: 'agentcli.slow_import', input: { table: 'orders' } })
  await reach(client, running.id, 'running')
  return [
    ['jobs', '#/jobs', 'slow_import'],
    ['jobs-failed', '#/jobs?status=failed', 'TOOL_FAILED'],
    ['jobs-none', '#/jobs?queue=nothing', 'No job fits'],
    ['tools', '#/tools', 'count_words'],
    ['tool', '#/tools/count_words', 'Where it comes from'],
    ['workers', '#/workers', 'alive'],
    ['keys', '#/keys', 'limited'],
    ['job', `#/jobs/${words}`, 'Output'],
    ['job-failed', `#/jobs/${failed}`, 'the mail host does not answer'],
    ['job-running', `#/jobs/${running.id}`, 'imported 100'],
    ['job-picture', `#/jobs/${picture}`, 'Output']
  ]
}
