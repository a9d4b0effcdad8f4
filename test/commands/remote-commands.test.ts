import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { reach } from '../jobs/submission.ts'
import { repoRoot } from '../repo/source-tree.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { runToolyard, type Ran } from '../cli/toolyard.ts'

const echo = '#!/bin/sh\ncat\n'
const properties = { text: { type: 'string' }, n: { type: 'number' }, on: { type: 'boolean' }, list: { type: 'array', items: { type: 'integer' } }, any: {} }
const service = await createService(t, {
  tools: [
    { name: 'echo', command: ['./tools/bin/echo'], schema: { type: 'object', properties, additionalProperties: false } },
    { name: 'fail', command: ['./tools/bin/fail'] },
    { name: 'seal', command: ['./tools/bin/seal'] },
    { name: 'add', command: ['./tools/bin/echo'] },
    { name: 'slow', command: ['./tools/bin/slow'] },
    { name: 'late', command: ['./tools/bin/slow'], timeoutSec: 1 },
    { name: 'not listed', command: ['./tools/bin/echo'] },
    { name: 'much', command: ['./tools/bin/much'] }
  ],
  files: {
    'tools/bin/echo': echo,
    'tools/bin/fail': '#!/bin/sh\necho no luck >&2\nexit 1\n',
    'tools/bin/seal': '#!/bin/sh\necho \'{"error": "locked", "hint": "unlock it first"}\' >&2\nexit 1\n',
    'tools/bin/much': '#!/bin/sh\nhead -c 2000000 /dev/zero | tr "\\\\0" x\n',
    'tools/bin/slow': '#!/bin/sh\necho begun >&2\nsleep 60\n'
  }
})
const url = service.api.address
const env = { TOOLYARD_URL: url, TOOLYARD_API_KEY: testKeys.admin }
const run = (args: string[], more: NodeJS.ProcessEnv = {}, input = ''): Promise<Ran> => runToolyard(args, { env: { ...env, ...more }, input, cwd: t.testdirName })
t.testdir()

await t.test('call reads values by the schema of the tool, and says on stderr how long it took and which service it asked', async t => {
  const { status, stdout, stderr } = await run(['call', 'echo', '--arg', 'text=5', '--arg', 'n=5', '--arg', 'on=true', '--arg', 'list=[1,2]', '--arg', 'any=x=y'])
  t.equal(status, 0)
  t.strictSame(JSON.parse(stdout), { text: '5', n: 5, on: true, list: [1, 2], any: 'x=y' })
  t.match(stderr, new RegExp(`^echo took \\d+ ms, asked ${url} with TOOLYARD_API_KEY\\n$`))
  t.notMatch(stderr, testKeys.admin)
})

await t.test('call takes its arguments from stdin, and prints its result as JSON', async t => {
  t.strictSame(JSON.parse((await run(['call', 'echo', '--json', '-'], {}, '{"n": 1}')).stdout), { n: 1 })
  t.match(JSON.parse((await run(['call', 'echo', '--arg', 'n=1', '--json'])).stdout), { ok: true, output: { n: 1 }, ms: Number })
})

await t.test('call names a bad argument and how it is written', async t => {
  for (const [args, says] of [
    [['echo', '--arg', 'n=five'], "the argument 'n' of echo must be a number, not 'five': write --arg 'n=2.5'"],
    [['echo', '--arg', 'on=yes'], "the argument 'on' of echo must be a boolean, not 'yes': write --arg 'on=true'"],
    [['echo', '--arg', 'm=1'], "echo has no argument 'm'; it takes text, n, on, list, any"],
    [['echo', '--arg', 'n'], "--arg takes NAME=VALUE, not 'n'"],
    [['echo', '--arg', 'n=1', '--arg', 'n=2'], "the argument 'n' is given twice"],
    [['echo', '--arg', 'n=1', '--json', '-'], '--arg or --json -, not both'],
    [['echo', '--timeout', 'long'], "--timeout takes seconds, not 'long'"]
  ] as const) t.match(await run(['call', ...args]), { status: 2, stderr: says }, says)
  t.match(await run(['call', 'echo', '--json', '-'], {}, '[1]'), { status: 2, stderr: 'must be a JSON object' })
})

await t.test('the exit status says whether the tool, the service or the key failed, or the call goes on', async t => {
  const dry = await run(['call', 'add', '--arg', 'a=2', '--arg', 'b=3', '--dry-run'])
  t.match(dry, { status: 0, stdout: '{\n  "a": 2,\n  "b": 3\n}\n', stderr: /add would run with these arguments/ })
  t.match(await run(['call', 'fail']), { status: 1, stderr: 'toolyard call: TOOL_FAILED: no luck' })
  t.match(await run(['call', 'nobody', '--arg', 'a=1']), { status: 1, stderr: /UNKNOWN_TOOL: Tool 'nobody' [^.]*\. toolyard tools lists those of this key, and toolyard validate/ })
  t.match(await run(['tools'], { TOOLYARD_URL: 'http://127.0.0.1:1' }), { status: 3, stderr: 'toolyard start' })
  t.match(await run(['tools'], { TOOLYARD_URL: url.replace('http:', 'https:') }), { status: 3, stderr: `${url.replace('http:', 'https:')} does not speak https. Write http:// in TOOLYARD_URL` })
  t.match(await run(['tools'], { TOOLYARD_URL: `${url}/elsewhere` }), { status: 4, stderr: /elsewhere has no such route: .*TOOLYARD_URL ends with the BASE_PATH/ })
  t.match(await run(['tools'], { TOOLYARD_API_KEY: 'wrong' }), { status: 4, stderr: "doesn't take this key" })
  const pending = await run(['call', 'slow', '--timeout', '0.5', '--json'])
  t.equal(pending.status, 5)
  const { error } = JSON.parse(pending.stdout) as { error: { code: string, details: { job_id: string } } }
  t.equal(error.code, 'TIMEOUT')
  t.match(await run(['jobs', 'cancel', error.details.job_id]), { status: 0, stdout: 'cancelled' })
  t.match(await run(['jobs', 'logs', '-f', error.details.job_id]), { status: 1, stdout: /begun\ncancelled/ })
  t.match(await run(['jobs', 'cancel', error.details.job_id]), { status: 0 })
})

await t.test('a job that waits for its time is let run, and one that has ended is removed', async t => {
  const { body: { job: { id } } } = await service.client.request<{ job: { id: string } }>('/v1/jobs', { body: { type: 'echo', delay_ms: 600_000 } })
  t.match(await run(['jobs', 'remove', id]), { status: 4, stderr: /CONFLICT: Only a job that has ended can be removed/ })
  t.match(JSON.parse((await run(['jobs', 'promote', id, '--json'])).stdout), { ok: true, job: { id } })
  t.match(await run(['jobs', 'logs', '-f', id]), { status: 0, stdout: /succeeded/ })
  t.match(await run(['jobs', 'promote', id]), { status: 4, stderr: /CONFLICT/ })
  t.match(await run(['jobs', 'remove', id]), { status: 0, stdout: `removed ${id}\n` })
  t.match(await run(['jobs', 'show', id]), { status: 4, stderr: /NOT_FOUND/ })
})

await t.test('a tool that ran too long is told with its time, the field that gives it more, and its last words', async t => {
  t.match(await run(['call', 'late']), { status: 1, stderr: /TOOL_TIMEOUT: tool timed out after 1 s\. timeoutSec of its entry .* gives it more time\nIts last words:\n {2}begun\n/ })
})

await t.test('an output of which only the beginning was kept is told with its sizes, and has an exit status of its own', async t => {
  const { status, stdout, stderr } = await run(['call', 'much'])
  t.equal(status, 6)
  t.equal(stdout.length, 1_048_576 + 1)
  t.match(stderr, /much put out 2000000 bytes, of which the first 1048576 were kept and are printed\. MAX_OUTPUT_BYTES/)
})

await t.test('an output is written into a file in place of being printed, all that was kept of it', async t => {
  const out = join(t.testdir(), 'much.txt')
  t.match(await run(['call', 'much', '--out', out]), { status: 6, stdout: /^$/, stderr: /of which the first 1048576 were kept and are in .*much\.txt\. MAX_OUTPUT_BYTES/ })
  t.equal(readFileSync(out).length, 1_048_576)
  t.match(await run(['call', 'echo', '--arg', 'n=1', '--out', out, '--json']), { status: 0, stdout: JSON.stringify(out) })
  t.same(JSON.parse(readFileSync(out, 'utf8')), { n: 1 })
  t.match(await run(['call', 'much', '--out', '/no/such/directory/file']), { status: 2, stderr: /there is no directory \/no\/such\/directory/ })
})

await t.test('a failed call names tools of similar names, and prints the hint of an error', async t => {
  for (const args of [['ad'], ['ad', '--arg', 'a=1']]) {
    t.match(await run(['call', ...args]), { status: 1, stderr: /^toolyard call: .*'ad' .*\. Is add meant\? toolyard tools lists them\n$/ }, args.join(' '))
    t.match(JSON.parse((await run(['call', ...args, '--json'])).stdout), { ok: false, error: { code: 'UNKNOWN_TOOL', details: { did_you_mean: ['add'] } } })
  }
  t.match(await run(['jobs', 'submit', 'data.file_raed']), { status: 4, stderr: "toolyard jobs submit: VALIDATION_ERROR: Unknown or disabled 'type'. Is data.file_read meant?\n" })
  t.match(await run(['call', 'seal']), { status: 1, stderr: 'toolyard call: TOOL_FAILED: locked\nunlock it first\n' })
})

await t.test('jobs are printed as JSON with the digits that were sent', async t => {
  const written = '"n": 1152921504606846977'
  const submitted = (await run(['jobs', 'submit', 'echo', '--input', `{${written}}`, '--json'])).stdout
  const { job: { id } } = JSON.parse(submitted) as { job: { id: string } }
  await reach(service.client, id, 'succeeded')
  t.ok(submitted.includes(written), submitted)
  t.ok((await run(['jobs', 'retry', id, '--json'])).stdout.includes(written))
})

await t.test('arguments behind --json are refused, with the way to give them', async t => {
  t.match(await run(['call', 'echo', '--json', '{"n": 1}']), { status: 2, stderr: /print the object into it, as in echo .* \| toolyard call NAME --json -$/m })
  t.match(await run(['call', 'echo', '--json', 'x']), { status: 2, stderr: /put the tool's name before it$/m })
})

await t.test('a tool that the list for models lacks is called by its name, with arguments', async t => {
  t.match(await run(['call', 'not listed', '--arg', 'n=1', '--arg', 'text=x']), { status: 0, stdout: /"n": 1,\n *"text": "x"/ })
})

await t.test('batch posts a file, or a model\'s message', async t => {
  const calls = [{ call_id: 'a', name: 'echo', arguments: { n: 1 } }]
  t.match(JSON.parse((await run(['batch', '-'], {}, JSON.stringify({ calls }))).stdout), { ok: true, results: [{ call_id: 'a', ok: true }] })
  t.equal((await run(['batch', '-'], {}, JSON.stringify({ calls: [...calls, { call_id: 'b', name: 'fail', arguments: {} }] }))).status, 1)
  t.match(await run(['batch', '-'], {}, '{'), { status: 2, stderr: "stdin can't be read as JSON" })
  t.match(await run(['batch', '-'], {}, '{}'), { status: 4, stderr: 'VALIDATION_ERROR' })
})

await t.test('jobs are listed, shown and retried', async t => {
  const { jobs: [job] } = JSON.parse((await run(['jobs', 'list', '--status', 'failed', '--limit', '1', '--json'])).stdout) as { jobs: Array<{ id: string, tool: string }> }
  t.equal(job?.tool, 'fail')
  t.match(JSON.parse((await run(['jobs', 'show', job?.id ?? ''])).stdout), { id: job?.id, status: 'failed', error: { message: 'no luck' } })
  const again = JSON.parse((await run(['jobs', 'retry', job?.id ?? '', '--json'])).stdout) as { job: { id: string } }
  t.not(again.job.id, job?.id)
  t.match(await run(['jobs', 'logs', '-f', again.job.id]), { status: 1, stdout: /failed TOOL_FAILED: no luck/ })
  t.match(await run(['jobs', 'show', 'nope']), { status: 4, stderr: 'NOT_FOUND' })
  t.match(await run(['jobs', 'list', '--status', 'done']), { status: 2, stderr: '--status must be one of queued' })
})

await t.test('jobs are listed in the order that is asked for, page by page', async t => {
  const list = async (...more: string[]): Promise<{ ids: string[], next: string | null }> => {
    const { jobs, next_cursor: next } = JSON.parse((await run(['jobs', 'list', '--json', ...more])).stdout) as { jobs: Array<{ id: string }>, next_cursor: string | null }
    return { ids: jobs.map(({ id }) => id), next }
  }
  const { ids: newest } = await list()
  t.ok(newest.length >= 3)
  t.same((await list('--order', 'newest')).ids, newest)
  t.same((await list('--order', 'oldest')).ids, newest.toReversed())
  const first = await list('--order', 'oldest', '--limit', '2')
  const second = await list('--order', 'oldest', '--limit', '2', '--cursor', first.next ?? '')
  t.same([...first.ids, ...second.ids], newest.toReversed().slice(0, first.ids.length + second.ids.length))
  const shown = await run(['jobs', 'list', '--order', 'oldest', '--limit', '2', '--tag', 'agent-tool'])
  const more = / (jobs list .*)$/m.exec(shown.stdout.split('More: toolyard')[1] ?? '')?.[1] ?? ''
  t.match(await run(more.split(' ')), { status: 0, stdout: newest.toReversed()[2] }, 'the line that is printed lists the next page')
  t.match(await run(['jobs', 'list', '--order', 'random']), { status: 2, stderr: "--order must be newest or oldest, not 'random'" })
})

await t.test('tools asks the service and says so, and open names the console', async t => {
  t.match(await run(['tools']), { status: 0, stdout: '\n- echo: (no description)\n', stderr: `asked ${url} with TOOLYARD_API_KEY\n` })
  t.strictSame(JSON.parse((await run(['open', '--json'])).stdout), { ok: true, url: `${url}/` })
  t.equal((await run(['complete', '--', 'call', 'ec'])).stdout, 'echo\n')
})

await t.test('a key of the settings is used without being given, and only for a service on this machine', async t => {
  const settings = { TOOLYARD_API_KEY: '', API_KEY: testKeys.admin }
  t.match(await run(['tools'], settings), { status: 0, stderr: 'with API_KEY\n' })
  t.match(await run(['tools'], { ...settings, TOOLYARD_URL: 'http://toolyard.invalid' }), { status: 3 })
  const { port } = new URL(url)
  t.match(await run(['tools'], { ...settings, TOOLYARD_URL: '', PORT: port }), { status: 0 })
})

await t.test('explain and keys new', async t => {
  t.match(await run(['explain', 'a34']), { status: 0, stdout: /^A34 {2}A relative program begins with .*\nFrom: the document of agentcli's tools\.json\nAll rules: \/.*\/docs\/conformance\.md\n$/ })
  t.match(await run(['explain', 'fault', '46', '--json']), { status: 0, stdout: '"rule": "fault 46"' })
  t.match(await run(['explain', 'Z9']), { status: 1, stderr: "there is no rule 'Z9'" })
  t.match(await run(['explain', 'A999']), { status: 1, stderr: /there is no rule 'A999'\. Is A\d+ or A\d+ or A\d+ meant\? All of them are in \/.*\/docs\/conformance\.md\n$/ })
  t.match(await run(['explain', 'lint/dept']), { status: 1, stderr: "there is no rule 'lint/dept'. Is lint/depth meant?" })
  t.match(await run(['explain', 'fault', '999']), { status: 1, stderr: / Is fault \d+.* meant\? / })
  const { stdout, stderr } = await run(['keys', 'new', '--name', 'ci', '--role', 'read'])
  const { name, key, role } = JSON.parse(stdout) as Record<string, string>
  t.strictSame({ name, role }, { name: 'ci', role: 'read' })
  t.match(key, /^[\w-]{43}$/)
  t.notMatch(stderr, key ?? '')
})

await t.test('keys are added, listed and revoked', async t => {
  const { status, stdout, stderr } = await run(['keys', 'add', 'acme app', '--tenant', 'acme', '--expires-in', '30d'])
  t.match(stderr, "toolyard keys revoke 'acme app' makes")
  t.equal(status, 0)
  const key = stdout.trim()
  t.match(key, /^ty_[\w-]{43}$/)
  t.notMatch(stderr, key)
  t.match(await run(['tools'], { TOOLYARD_API_KEY: key }), { status: 0 })
  t.match(await run(['keys', 'list']), { status: 0, stdout: /^acme app {2}admin {2}acme {2}redis {2}until \S+/m })
  t.match(JSON.parse((await run(['keys', 'list', '--json'])).stdout), { keys: [{ name: 'admin', source: 'settings' }] })
  t.match(await run(['keys', 'list'], { TOOLYARD_API_KEY: key }), { status: 4, stderr: 'without a tenant' })
  t.match(await run(['keys', 'add', 'acme app']), { status: 4, stderr: "There is a key 'acme app' already" })
  t.match(await run(['keys', 'add', 'x', '--expires-in', '5']), { status: 2, stderr: '--expires-in must be such as 30d' })
  t.match(await run(['keys', 'revoke', 'acme app']), { status: 0, stdout: 'Revoked acme app\n' })
  t.match(await run(['keys', 'revoke', 'acme app']), { status: 4, stderr: 'NOT_FOUND' })
  t.match(await run(['keys', 'list'], { TOOLYARD_URL: 'http://127.0.0.1:9' }), { status: 3 })
})

await t.test('a worker is named by the beginning of its id, drained until it runs nothing, and resumed', async t => {
  const { stdout } = await run(['workers', 'list'])
  const [, id = ''] = /^([0-9a-f]{8}) {2}working {3}\S+ {2}runs 0 of \d+ {2}has run \d+ {2}all queues\n$/.exec(stdout) ?? []
  t.not(id, '', stdout)
  const { job_id: job } = (await service.client.batch([{ call_id: 's', name: 'slow', arguments: {} }], { mode: 'async' })).results[0] ?? {}
  await reach(service.client, String(job), 'running')
  t.match(await run(['workers', 'drain', id]), { status: 0, stdout: new RegExp(`^${id} {2}draining`), stderr: `toolyard workers drain ${id} --wait` })
  const drained = run(['workers', 'drain', id, '--wait', '--json'])
  await run(['jobs', 'cancel', String(job)])
  t.match(JSON.parse((await drained).stdout), { ok: true, worker: { state: 'drained', places: { used: 0 } } })
  t.match(await run(['workers', 'resume', id]), { status: 0, stdout: new RegExp(`^${id} {2}working`) })
  t.match(await run(['workers', 'drain', 'zz']), { status: 4, stderr: "no living worker has the id 'zz'" })
  t.match(await run(['workers', 'list', '--json'], { TOOLYARD_API_KEY: testKeys.read }), { status: 0 })
  t.match(await run(['workers', 'drain', id], { TOOLYARD_API_KEY: testKeys.read }), { status: 4, stderr: 'FORBIDDEN' })
})

await t.test('docs/command-line.md has every command and every exit status', async t => {
  const page = readFileSync(join(repoRoot, 'docs/command-line.md'), 'utf8')
  const commands = [...(await run(['--help'])).stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name = '']) => name).filter(name => name !== 'help')
  t.ok(commands.length > 10)
  for (const name of commands) t.match(page, `\`${name}`, name)
  t.strictSame([...page.matchAll(/^\| (\d) \|/gm)].map(([, code]) => code), ['0', '1', '2', '3', '4', '5', '6'])
})

await t.test('where manifests have faults, the error of an unknown tool names validate once', async t => {
  await writeFile(join(service.dir, 'tools.json'), '{"tools": [')
  const { stderr } = await waitFor('the fault', async () => await run(['call', 'nobody']).then(ran => ran.stderr.includes('has faults') && ran))
  t.match(stderr, /: `toolyard validate` shows them\. toolyard tools lists those of this key\n$/)
})
