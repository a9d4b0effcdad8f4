import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
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

const [publicAddress = '', dir = ''] = process.argv.slice(2)
const tls = { key: readFileSync(join(dir, 'public.key')), cert: readFileSync(join(dir, 'public.pem')) }
/** An archive with one skill. */
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
const outside = createServer(tls, ({ url = '' }, response) => {
  const location = elsewhere[url]
  if (location !== undefined) response.writeHead(302, { location }).end()
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
  const words = ['add', url, '--name', `n${Object.keys(said).length}`, '--yes']
  const { status, stderr } = await runToolyard(words, { cwd: join(dir, 'work'), env: { NODE_EXTRA_CA_CERTS: join(dir, 'ca.pem') } })
  said[path] = `${status} ${stderr}`
}
process.stdout.write(JSON.stringify({ said, insideAsked }))
process.exit()
