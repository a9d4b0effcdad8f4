import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { listening } from '../support/listening.ts'

const program = fileURLToPath(new URL('../cli/odd-answers-program.js', import.meta.url))
const commands = [
  'tools', 'tools --json', 'call x', 'call x --arg a=1', 'batch batch.json', 'jobs list', 'jobs show 1', 'jobs logs 1', 'jobs logs -f 1', 'jobs cancel 1', 'jobs retry 1', 'jobs promote 1', 'jobs remove 1', 'jobs submit x',
  'sessions make', 'sessions list', 'sessions show 1', 'sessions rm 1', 'files list', 'files put batch.json', 'files unpack batch.json', 'keys add x', 'keys list', 'keys revoke x', 'complete call x'
].map(line => line.split(' '))
const fields = ['tools', 'results', 'messages', 'jobs', 'job', 'logs', 'session', 'sessions', 'entries', 'file', 'archive', 'key', 'keys', 'next_cursor', 'ok', 'error']

interface Ended { url: string, args: string[], status: number | string, printed: string }

const json = (value: unknown): (response: ServerResponse) => void => response => { response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value)) }
const every = (value: unknown): object => Object.fromEntries(fields.map(name => [name, value]))

/** Answers that no service of Toolyard gives: of proxies, log-in pages, other services. */
const odd: Record<string, (response: ServerResponse) => void> = {
  'a page': response => { response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>') },
  'a page of an error': response => { response.writeHead(404, { 'content-type': 'text/html' }).end('<html>no</html>') },
  nothing: response => { response.writeHead(200).end() },
  'no content': response => { response.writeHead(204).end() },
  'half of an object': response => { response.writeHead(200, { 'content-type': 'application/json' }).end('{"jobs": [') },
  'an error that is a text': response => { response.writeHead(400, { 'content-type': 'application/json' }).end('{"error": "no", "message": "no"}') },
  'an error of numbers': response => { response.writeHead(400, { 'content-type': 'application/json' }).end('{"error": {"code": 5, "message": {}}}') },
  'an error that is null': response => { response.writeHead(403, { 'content-type': 'application/json' }).end('{"error": null}') },
  null: json(null),
  'a list': json([]),
  'a text': json('x'),
  'an empty object': json({}),
  ...Object.fromEntries([null, 7, 'x', true, [], [null], [7], ['x'], [[]], [{}], {}, { id: 7 }, [{ id: 7, status: {}, function: 'x' }]].map(value => [`${JSON.stringify(value)} in each field`, json(every(value))])),
  'events of nonsense': response => { response.writeHead(200, { 'content-type': 'text/event-stream' }).end('event: job_update\ndata: null\n\nevent: log_append\ndata: {"level": 7}\n\nevent: end\ndata: x\n\n') }
}
/** Commands that a JSON answer without anything in it satisfies. */
const content = new Set(['keys revoke x', 'complete call x'])

await t.test('every command says of an answer that isn\'t Toolyard\'s that it isn\'t, whatever it is', async t => {
  for (const { what, line, status, printed } of await runAll(t, odd)) {
    t.notMatch(printed, /TypeError|SyntaxError|undefined|\[object|is not (?:a function|iterable)|Cannot read/, `${line}, answered with ${what}`)
    // An empty list is a list.
    if (!content.has(line) && what !== '[] in each field') t.ok(status !== 0, `${line}, answered with ${what}: ${status}`)
  }
})

await t.test('no command follows a redirect, which would take the key along', async t => {
  const seen: Array<string | undefined> = []
  const elsewhere = await serving(t, createServer(({ headers }, response) => {
    seen.push(String(headers['x-api-key']))
    response.end('{}')
  }))
  const redirects = Object.fromEntries([301, 302, 307, 308].map(status => [status, (response: ServerResponse) => { response.writeHead(status, { location: `${elsewhere}/x` }).end() }]))
  for (const { line, status, printed } of await runAll(t, redirects)) {
    if (line.startsWith('complete')) continue
    t.match(printed, /leads elsewhere|isn't Toolyard/, line)
    t.not(status, 0)
  }
  t.strictSame(seen, [])
})

await t.test('every command says of an answer that breaks off that the service can\'t be reached', async t => {
  const half = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"ok": true, ', () => { response.destroy() })
  }
  for (const { line, status, printed } of await runAll(t, { half })) {
    if (line.startsWith('complete')) continue
    t.match(printed, /can't be reached/, line)
    t.not(status, 0, line)
  }
})

async function serving (t: Test, server: ReturnType<typeof createServer>): Promise<string> {
  return `http://127.0.0.1:${await listening(t, server)}`
}

async function runAll (
  t: Test, answers: Readonly<Record<string, (response: ServerResponse) => void>>
): Promise<Array<{ what: string, line: string, status: number | string, printed: string }>> {
  const cwd = t.testdir()
  writeFileSync(join(cwd, 'batch.json'), '{"calls": []}')
  const names = Object.keys(answers)
  const address = await serving(t, createServer((request, response) => {
    const at = Number(request.url?.split('/')[1])
    request.resume().on('end', () => { answers[names[at] ?? '']?.(response) })
  }))
  const urls = names.map((_, at) => `${address}/${at}`)
  const child = spawn(process.execPath, [program, JSON.stringify([urls, commands])], { cwd, env: { PATH: process.env['PATH'], TOOLYARD_API_KEY: 'a-key' }, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = (await text(child.stdout)).trim().split('\n').map(line => JSON.parse(line) as Ended)
  t.equal(ended.length, urls.length * commands.length)
  return ended.map(({ url, args, ...rest }) => ({ what: names[urls.indexOf(url)] ?? '', line: args.join(' '), ...rest }))
}
