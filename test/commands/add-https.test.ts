import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { makeCertificates } from '../support/certificates.ts'

const publicAddress = '93.184.216.34'
const program = fileURLToPath(new URL('public-source-program.js', import.meta.url))
/** A network with one public address, where git trusts the authority of the test. */
const setUp = 'ip link set lo up && ip addr add "$1/32" dev lo && mount --bind "$2" /etc/ssl/certs/ca-certificates.crt && shift 2 && exec "$@"'
const network = (ca: string): string[] => ['--user', '--map-root-user', '--net', '--mount', 'sh', '-c', setUp, 'sh', publicAddress, ca]
const skip = spawnSync('unshare', [...network('/dev/null'), 'true']).status !== 0 && 'this user can make no network of its own'

t.test('a source that leads into the network, has another digest or no end is refused, by https and by git, and nothing is half added', { skip }, async t => {
  const dir = t.testdir({ work: {}, served: {} })
  makeCertificates(dir, 'public', `IP:${publicAddress},IP:127.0.0.1,DNS:localhost`)
  const { stdout, stderr } = spawnSync('unshare', [...network(join(dir, 'ca.pem')), process.execPath, program, publicAddress, dir, commitIn(join(dir, 'served/good.git'))], { encoding: 'utf8', maxBuffer: 10_000_000 })
  const { said, insideAsked } = JSON.parse(stdout === '' ? JSON.stringify({ said: { program: stderr } }) : stdout) as { said: Record<string, string>, insideAsked: number }
  for (const path of ['/address', '/name', '/metadata', '/mapped', '/decimal']) t.match(said[path], /^1 [^]*is not a public host/, path)
  t.match(said['/plain'], /^1 [^]*redirects to http:.*, which is not https/)
  t.match(said['/loop'], /^1 [^]*redirects more than 5 times/)
  t.match(said['/none'], /^1 [^]*answers with status 404/)
  t.match(said['/endless'], /^1 [^]*has more than 67108864 bytes/)
  t.match(said['/good?other'], /^1 [^]*has the digest [0-9a-f]{64}, and 0{64} was asked for/)
  t.match(said['/moved.git'], /^1 [^]*git can't read [^]*(?:redirect|302)/)
  for (const path of ['/inside.git', '/named.git']) t.match(said[path], /^1 [^]*is not a public host/, path)
  t.equal(insideAsked, 0, 'what is inside was never asked')
  t.match(said['/good'], /^0 /)
  t.match(said['/once'], /^0 /, 'a redirect to a public host is followed')
  t.match(said['/good.git'], /^0 /)
  t.equal(readdirSync(join(dir, 'work/tools/vendor')).length, 3)
})

function commitIn (repository: string): string {
  mkdirSync(repository)
  writeFileSync(join(repository, 'SKILL.md'), '---\nname: cards\ndescription: Writes cards.\n---\n# Cards\n')
  const git = (...words: string[]): string => execFileSync('git', ['-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...words], { encoding: 'utf8' }).trim()
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
  git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  return git('rev-parse', 'HEAD')
}
