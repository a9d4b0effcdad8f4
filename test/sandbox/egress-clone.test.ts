import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join, resolve, sep } from 'node:path'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { makeCertificates } from '../support/certificates.ts'
import { listening } from '../support/listening.ts'
import { boxedTools, withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()

void t.test('git clones from the one host of its list over TLS, and reaches no other; curl, Python and fetch get a file of it', { skip }, async t => {
  const dir = t.testdir({ source: { 'README.md': 'a mirror' } })
  makeCertificates(dir, 'mirror', 'DNS:mirror.test,DNS:other.test')
  const git = (...args: string[]): void => { execFileSync('git', args, { cwd: join(dir, 'source'), stdio: 'ignore', env: { PATH: process.env['PATH'], HOME: dir } }) }
  git('init', '-b', 'main')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-m', 'first')
  git('clone', '--bare', '.', join(dir, 'mirror.git'))
  git('-C', join(dir, 'mirror.git'), 'update-server-info')

  // Git reads the files of a repository where a server knows nothing of it.
  const server = createServer({ cert: readFileSync(join(dir, 'mirror.pem')), key: readFileSync(join(dir, 'mirror.key')) }, (request, response) => {
    const path = resolve(dir, `.${new URL(request.url ?? '', 'https://mirror.test').pathname}`)
    try {
      if (!path.startsWith(join(dir, 'mirror.git') + sep)) throw new Error('elsewhere')
      response.end(readFileSync(path))
    } catch {
      response.writeHead(404).end()
    }
  })
  const port = await listening(t, server)

  const tools = await boxedTools(t, {
    http: { privateHosts: ['mirror.test', 'other.test'], lookup: (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) } }
  })
  copyFileSync(join(dir, 'ca.pem'), join(tools.workspace, 'ca.pem'))
  const file = `https://mirror.test:${port}/mirror.git/HEAD`
  writeFileSync(join(tools.workspace, 'get.mjs'), `process.stdout.write('node ' + await (await fetch('${file}')).text())`)
  writeFileSync(join(tools.workspace, 'get.py'), `import urllib.request as r; print("python", r.urlopen("${file}").read().decode(), end="")`)
  const output = String(outputOf(await tools.shell([
    'for name in SSL_CERT_FILE CURL_CA_BUNDLE GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS; do export $name="$PWD/ca.pem"; done',
    `git clone -q https://mirror.test:${port}/mirror.git /tmp/copy && echo "cloned $(cat /tmp/copy/README.md)"`,
    `git clone -q https://other.test:${port}/mirror.git /tmp/other 2>/dev/null || echo no other`,
    `echo "curl $(curl -sS ${file})"`, '/usr/bin/env python3 get.py', `${process.execPath} get.mjs`
  ].join('\n'), { network: [`mirror.test:${port}`] })))
  t.strictSame(output.trim().split('\n'), ['cloned a mirror', 'no other', ...['curl', 'python', 'node'].map(name => `${name} ref: refs/heads/main`)], output)
})
