import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { makeCertificates } from '../support/certificates.ts'

const publicAddress = '93.184.216.34'
const program = fileURLToPath(new URL('public-source-program.js', import.meta.url))
const network = ['--user', '--map-root-user', '--net', 'sh', '-c', 'ip link set lo up && ip addr add "$1/32" dev lo && shift && exec "$@"', 'sh', publicAddress]
const skip = spawnSync('unshare', [...network, 'true']).status !== 0 && 'this user can make no network of its own'

t.test('an https source that redirects into the network, has another digest or no end is refused, and nothing is half added', { skip }, async t => {
  const dir = t.testdir({ work: {} })
  makeCertificates(dir, 'public', `IP:${publicAddress},IP:127.0.0.1,DNS:localhost`)
  const { stdout, stderr } = spawnSync('unshare', [...network, process.execPath, program, publicAddress, dir], { encoding: 'utf8', maxBuffer: 10_000_000 })
  const { said, insideAsked } = JSON.parse(stdout === '' ? JSON.stringify({ said: { program: stderr } }) : stdout) as { said: Record<string, string>, insideAsked: number }
  for (const path of ['/address', '/name', '/metadata', '/mapped', '/decimal']) t.match(said[path], /^1 [^]*is not a public host/, path)
  t.match(said['/plain'], /^1 [^]*redirects to http:.*, which is not https/)
  t.match(said['/loop'], /^1 [^]*redirects more than 5 times/)
  t.match(said['/none'], /^1 [^]*answers with status 404/)
  t.match(said['/endless'], /^1 [^]*has more than 67108864 bytes/)
  t.match(said['/good?other'], /^1 [^]*has the digest [0-9a-f]{64}, and 0{64} was asked for/)
  t.equal(insideAsked, 0, 'what is inside was never asked')
  t.match(said['/good'], /^0 /)
  t.match(said['/once'], /^0 /, 'a redirect to a public host is followed')
  t.equal(readdirSync(join(dir, 'work/tools/vendor')).length, 2)
})
