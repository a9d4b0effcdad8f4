import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { runPython, withoutPython } from './python.ts'
import { clientFiles, clientTools } from '../client/tools.ts'

t.test('the Python clients do what the TypeScript client does', { skip: withoutPython }, async t => {
  const service = await createService(t, { tools: clientTools, files: clientFiles })
  const workspace = join(service.dir, 'workspace')
  const seen = JSON.parse(await runPython('client.py', [workspace], { TOOLYARD_URL: service.api.address, TOOLYARD_API_KEY: testKeys.admin })) as Record<string, unknown>
  const is = (title: string, field: string, wanted: unknown): void => { t.strictSame(seen[field], wanted, title) }

  is('a call gives its output', 'call', { sum: 3 })
  is('also one that is too long for a model', 'long', 20_000)
  t.match(seen['failed'], { type: 'ToolError', code: 'TOOL_FAILED', message: 'the well is dry', tool: 'fail', job_id: /./, status: 200 })
  t.match(seen['unknown'], { type: 'ToolError', code: 'UNKNOWN_TOOL' })
  t.match(seen['refused'], { type: 'ToolyardError', code: 'UNAUTHORIZED', status: 401, request_id: /./ })
  is('a key with a line break at its end is the key', 'line_break', { sum: 3 })
  is('one that no header carries is refused without a word of it', 'unsendable', 'The api_key of Toolyard must be printable ASCII characters: no other arrives whole in a header')
  t.match(seen['away'], { type: 'ToolyardError', code: 'UNREACHABLE', message: /at http:\/\/127\.0\.0\.1:\d+: .*refused/ })
  is('a call that takes longer than one request is waited for', 'waited', { saw: join(workspace, 'py-waited') })
  t.equal(await readFile(join(workspace, 'py-waited.runs'), 'utf8'), 'x', 'and runs once')
  is('a call that takes too long names its job', 'late', 'TIMEOUT')
  is('which can be cancelled, also twice', 'cancelled', ['cancelled', 'cancelled'])
  is('a job is made once for a key', 'same', true)
  is('and listed', 'listed', true)
  is('and followed to its end', 'end', ['end', 'failed'])
  is('and has a log', 'logs', 1)
  t.match((seen['lines'] as string[]).filter(line => ['began', 'saw it'].includes(line)), ['began', 'saw it'])
  is('a follower sees lines, states and the end', 'types', ['end', 'log', 'state'])
  is('ten calls wait at once', 'async_calls', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  is('a task that is cancelled ends', 'async_cancelled', true)
  is('and so does its thread, while the job goes on', 'async_thread_ends', 'running')
  is('an async follower sees the end', 'async_end', { saw: join(workspace, 'py-async') })
  is('an async call that fails raises a ToolError', 'async_failed', ['TOOL_FAILED', 'the well is dry'])
  is('both clients have the same methods', 'same_surface', true)
  is('also for sessions and files', 'same_surface_of_files', true)
})

t.test('a thread whose loop is closed before it answers ends without a word', { skip: withoutPython }, async t => {
  t.same(JSON.parse(await runPython('closed_loop.py')), { threads: 1, raised: [] })
})
