import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { writeHeader } from '@toolyard/workspace'
import { runToolyard } from '../cli/toolyard.ts'

/*
 * Runs in a network of its own, whose loopback interface has a public address as well. There an https server is a public host,
 * and another one is inside. Prints what `toolyard add` says of each path of the public one, and how often the one inside was
 * asked.
 */

const [publicAddress = '', dir = '', commit = ''] = process.argv.slice(2)
const tls = { key: readFileSync(join(dir, 'public.key')), cert: readFileSync(join(dir, 'public.pem')) }
function archiveOf (name: string): Buffer {
  const text = `---\nname: ${name}\ndescription: Counts.\n---\n# Counts\n`
  const header = writeHeader({ name: Buffer.from('top/SKILL.md'), size: text.length, mode: 0o644, mtime: new Date(0), type: '0' })
  return gzipSync(Buffer.concat([header, Buffer.from(text), Buffer.alloc(512 - text.length), Buffer.alloc(1_024)]))
}

const [archive, second] = [archiveOf('letters'), archiveOf('words')]
const elsewhere: Readonly<Record<string, string>> = {
  '/address': 'https://127.0.0.1/x',
  '/name': 'https://localhost/x',
  '/metadata': 'https://169.254.169.254/x',
  '/mapped': 'https://[::ffff:127.0.0.1]/x',
  '/decimal': 'https://2130706433/x',
  '/plain': `http://${publicAddress}/good`,
  '/loop': '/loop',
  '/once': '/second'
}
let insideAsked = 0
const inside = createServer(tls, (_, response) => {
  insideAsked += 1
  response.end(archive)
})

/** Serves the repositories of a directory, as git's own CGI program does. */
function serveGit (request: IncomingMessage, response: ServerResponse): void {
  const { url = '', method = '', headers } = request
  const { pathname, searchParams } = new URL(url, 'https://host')
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: join(dir, 'served'),
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: method,
      CONTENT_TYPE: headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(headers['git-protocol'] ?? '')
    },
    stdio: ['pipe', 'pipe', 'inherit']
  })
  request.pipe(child.stdin)
  const pieces: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => { pieces.push(piece) }).on('end', () => {
    const whole = Buffer.concat(pieces)
    const end = whole.indexOf('\r\n\r\n')
    const [, type = ''] = /^Content-Type: (.*)\r$/m.exec(whole.toString('latin1', 0, end + 1)) ?? []
    response.writeHead(200, { 'content-type': type }).end(whole.subarray(end + 4))
  })
}
const outside = createServer(tls, (request, response) => {
  const { url = '' } = request
  const location = url.startsWith('/moved.git/') ? `https://127.0.0.1${url}` : elsewhere[url]
  if (url.startsWith('/good.git/')) serveGit(request, response)
  else if (location !== undefined) response.writeHead(302, { location }).end()
  else if (url === '/good') response.end(archive)
  else if (url === '/second') response.end(second)
  else if (url === '/endless') {
    const piece = Buffer.alloc(1_048_576)
    const more = (): void => { while (response.write(piece)); }
    response.on('drain', more).once('error', () => {})
    more()
  } else response.writeHead(404).end()
})
const listen = async (server: Server, host: string): Promise<void> => {
  await new Promise<void>(resolve => { server.listen(443, host, resolve) })
}
await Promise.all([listen(inside, '127.0.0.1'), listen(outside, publicAddress)])
const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
const said: Record<string, string> = {}
const asked: ReadonlyArray<readonly [path: string, sha256: string]> = [
  ...[...Object.keys(elsewhere), '/good', '/none', '/endless'].map(path => [path, digestOf(path === '/once' ? second : archive)] as const), ['/good?other', '0'.repeat(64)]
]
for (const [path, sha256] of asked) {
  const url = `https://${publicAddress}${path.replace('?other', '')}#sha256=${sha256}`
  said[path] = await add(url)
}
for (const [path, host] of [['/moved.git', publicAddress], ['/good.git', publicAddress], ['/inside.git', '127.0.0.1'], ['/named.git', 'localhost']] as const) {
  said[path] = await add(`git+https://${host}${path}#${commit}`)
}
async function add (source: string): Promise<string> {
  const words = ['add', source, '--name', `n${Object.keys(said).length}`, '--yes']
  const { status, stderr } = await runToolyard(words, { cwd: join(dir, 'work'), env: { NODE_EXTRA_CA_CERTS: join(dir, 'ca.pem') } })
  return `${status} ${stderr}`
}
process.stdout.write(JSON.stringify({ said, insideAsked }))
process.exit()
