import type { JobLogsResponse, JobView } from '@toolyard/contract'
import { parseProgress } from '@toolyard/contract/terms'
import fc from 'fast-check'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { list, reach, read } from '../jobs/submission.ts'
import { connect } from '../mcp/clients.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { openReader } from './event-reader.ts'
import { anyCharacter } from '../support/any-character.ts'

const shell = (body: string): string => `#!/bin/sh\n${body}\n`
const service = await createService(t, {
  files: {
    'tools/bin/tells': shell('echo "::progress 1/4 first" >&2; echo plain >&2; while [ ! -e go ]; do sleep 0.02; done; echo "::progress 4/4 last" >&2; echo done'),
    'tools/bin/floods': '#!/usr/bin/env node\nlet n = 0; const go = () => { while (n < 300000) { n++; if (!process.stderr.write("::progress " + n + "/300000 " + "x".repeat(30) + "\\n")) return void process.stderr.once("drain", go) } console.log(n) }; go()',
    'tools/bin/mixed': shell('for n in 1 2 3; do echo "::progress $n apples" >&2; done; echo "::progress half" >&2; echo "::progress 1/x" >&2; echo " ::progress 5/6" >&2; echo "::progress 3" >&2; echo "::progress 7/9 it broke" >&2; echo "no luck" >&2; exit 1'),
    'tools/bin/late': '#!/usr/bin/env node\nprocess.stderr.write("noise\\n".repeat(30000) + "::progress 2/3 behind the noise\\n" + "noise\\n".repeat(100), () => console.log("done"))',
    'tools/bin/secret': shell(`echo "::progress 1/2 key ${testKeys.read}" >&2; echo "::progress 2/2 ${'a'.repeat(185)} ${testKeys.read}" >&2; echo done`),
    'py/mods/steps.py': [
      'import toolyard', 'from toolyard import Tool', '',
      'class Steps(Tool):', '    def execute(self):', '        toolyard.progress(1, 3)', '        toolyard.progress(2.5, 3, "line\\nbreak")',
      '        return "done"', ''
    ].join('\n'),
    'py/manifest.json': JSON.stringify({ schema_version: '1.0', metadata: { name: 'test', description: 'A bundle of a test' }, tools: [{ name: 'steps', description: 'Steps', module: 'mods.steps', inputs: {} }] })
  },
  tools: ['tells', 'floods', 'mixed', 'late', 'secret'].map(name => ({
    name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], permissions: ['read_repo'], timeoutSec: 200
  })),
  manifests: ['tools.json', 'py/manifest.json']
})
const { client } = service
const key = testKeys.read

async function begin (name: string): Promise<string> {
  const { results: [result] } = await client.batch([{ call_id: 'c', name, arguments: {} }], { mode: 'async' })
  return result?.job_id ?? ''
}

async function ended (name: string): Promise<JobView> {
  return await reach(client, await begin(name), 'succeeded', 'failed')
}

const lines = async (id: string): Promise<string[]> => (
  (await client.request<JobLogsResponse>(`/v1/jobs/${id}/logs`)).body.logs.map(({ message }) => message)
)

t.test('the progress that a tool reports is in the job, its stream, lists and MCP, and not in its log', async t => {
  const id = await begin('tells')
  const reader = await openReader(t, `${service.api.address}/v1/jobs/${id}/stream`, { key })
  await reader.next('log_append')
  const first = await waitFor('the first progress', async () => (await read(client, id)).progress)
  t.same(first, { done: 1, total: 4, text: 'first' })
  t.match((await list(client)).jobs, [{ id, progress: { done: 1, total: 4, text: 'first' } }])
  const { client: mcp } = await connect(t, service.api.address, testKeys.admin, '2025-11-25')
  const steps: object[] = []
  const called = mcp.callTool({ name: 'tells' }, {
    onprogress: step => {
      steps.push(step)
      void writeFile(join(service.dir, 'workspace/go'), '')
    }
  })
  await reader.ended()
  t.same(reader.events.filter(({ name }) => name === 'progress').at(-1)?.data, { progress: { done: 4, total: 4, text: 'last' } })
  t.same((reader.events.findLast(({ name }) => name === 'job_update')?.data['job'] as JobView).progress, { done: 4, total: 4, text: 'last' })
  t.same(await lines(id), ['plain'])
  await called
  t.same(steps.at(-1), { progress: 4, total: 4, message: 'last' })
})

t.test('a flood of progress is written a few times a second, and none of it is kept', async t => {
  const begun = performance.now()
  const id = await begin('floods')
  const reader = await openReader(t, `${service.api.address}/v1/jobs/${id}/stream`, { key })
  await reader.ended()
  const most = (performance.now() - begun) / 250 + 3
  const told = reader.events.filter(({ name }) => name === 'progress')
  t.ok(told.length <= most, `${told.length} of at most ${most}`)
  t.match(await read(client, id), { status: 'succeeded', result: 300_000, progress: { done: 300_000, total: 300_000 } })
  t.same(await lines(id), [])
})

t.test('progress is found after more lines than a log keeps', async t => {
  const job = await ended('late')
  t.match(job.progress, { done: 2, total: 3, text: 'behind the noise' })
  t.equal((await lines(job.id)).at(-1), '[further lines are not shown after 2000]')
})

t.test('a line that isn\'t valid progress is a line of the log, and no error mentions progress', async t => {
  const job = await ended('mixed')
  t.match(job, { status: 'failed', progress: { done: 7, total: 9, text: 'it broke' } })
  t.same(await lines(job.id), ['::progress half', '::progress 1/x', ' ::progress 5/6', 'no luck'])
  t.equal(job.error?.message, '::progress half\n::progress 1/x\n ::progress 5/6\nno luck')
})

t.test('secrets in progress are hidden before the text is cut', async t => {
  const { progress } = await ended('secret')
  t.equal(progress?.text, `${'a'.repeat(185)} ***REDACTED***`)
})

t.test('a Python tool reports progress with a function', async t => {
  const job = await ended('steps')
  t.match(job, { status: 'succeeded', progress: { done: 2.5, total: 3, text: 'line break' } })
  t.same(await lines(job.id), [])
})

t.test('any line is read as the progress that it states, or not at all', async t => {
  const count = fc.oneof(fc.nat(), fc.nat().map(n => n / 1_000))
  await t.resolves(fc.assert(fc.asyncProperty(count, fc.option(count), fc.string(), async (done, total, text) => {
    const line = `::progress ${done}${total === null ? '' : `/${total}`} x${text}`
    fc.pre(!/e/.test(`${done} ${total}`))
    t.strictSame(parseProgress(line), { done, total, text: `x${text}`.trim() }, line)
  })))
  await t.resolves(fc.assert(fc.asyncProperty(fc.string({ unit: anyCharacter }), fc.constantFrom('', ':', '::progress', '::progress ', '::progress 1/'), async (rest, head) => {
    const found = parseProgress(head + rest)
    if (found === undefined) return
    t.ok(head.startsWith('::progress') && Number.isFinite(found.done) && found.done >= 0 && (found.total === null || found.total >= 0))
  })))
})
