import { orElse } from '@toolyard/contract/terms'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ensureRedisServer, findRedisServer } from '@toolyard/store/server'

const root = { root: true, systemd: false }
const user = { root: false, systemd: false }
const nowhere = { message: /no redis-server or valkey-server 6\.2 or newer[\s\S]*apt-get install[\s\S]*REDIS_URL=/ }

await t.test('a server program is taken from the PATH when it is 6.2 or newer', async t => {
  const cases: Array<[string, string, string | undefined]> = [
    ['redis-server', 'Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64', '7.0.15'],
    ['redis-server', 'Redis server v=6.2.0 sha=0', '6.2.0'],
    ['redis-server', 'Redis server v=6.0.16 sha=0', undefined],
    ['redis-server', 'Redis server v=10.1.0 sha=0', '10.1.0'],
    ['valkey-server', 'Valkey server v=8.1.1 sha=0', '8.1.1'],
    ['redis-server', 'something else', undefined]
  ]
  for (const [name, says, version] of cases) {
    const bin = t.testdir()
    program(bin, name, `echo '${says}'`)
    t.strictSame(await findRedisServer({ PATH: bin }), version && { path: join(bin, name), version }, says)
  }
})

await t.test('an old program does not hide a good one further along the PATH', async t => {
  const bin = t.testdir({ old: {}, new: {} })
  program(join(bin, 'old'), 'redis-server', 'echo v=5.0.7')
  program(join(bin, 'new'), 'valkey-server', 'echo v=8.0.0')
  const env = { PATH: `${join(bin, 'old')}:relative:${join(bin, 'new')}` }
  t.strictSame(await findRedisServer(env), { path: join(bin, 'new/valkey-server'), version: '8.0.0' })
})

await t.test('with TOOLYARD_NO_INSTALL=1 nothing is installed, and the error names the ways to get a server', async t => {
  const bin = t.testdir()
  program(bin, 'apt-get', installs(bin, 'redis-server', 'v=7.0.15'))
  await t.rejects(ensure(t, { PATH: bin, TOOLYARD_NO_INSTALL: '1' }, root), nowhere)
  await t.rejects(ensure(t, { PATH: bin, TOOLYARD_NO_INSTALL: '1' }, root), { message: /TOOLYARD_NO_INSTALL keeps/ })
  t.equal(calls(bin), '')
})

await t.test('as root, apt-get updates its lists and installs without a question', async t => {
  const bin = t.testdir()
  program(bin, 'apt-get', installs(bin, 'redis-server', 'v=7.0.15'))
  const said: string[] = []
  const found = await ensureRedisServer({ env: { PATH: bin }, say: line => { said.push(line) }, host: root })
  t.equal(found.version, '7.0.15')
  t.match(calls(bin), /^apt-get noninteractive update\napt-get noninteractive install -y .*redis-server\n$/)
  t.match(said.join('\n'), /installing one with apt-get .*TOOLYARD_NO_INSTALL=1/)
})

await t.test('the service that a package brings is switched off, unless an older server was there before', async t => {
  for (const older of [false, true]) {
    const bin = t.testdir()
    if (older) program(bin, 'valkey-server', 'echo v=5.0.0')
    program(bin, 'apt-get', installs(bin, 'redis-server', 'v=7.0.15'))
    program(bin, 'systemctl', installs(bin, 'none', ''))
    await ensure(t, { PATH: bin }, { root: true, systemd: true })
    t.equal(calls(bin).includes('systemctl  disable --now redis-server.service'), !older)
  }
})

await t.test('the installation goes on when updating the lists fails', async t => {
  const bin = t.testdir()
  program(bin, 'apt-get', `[ "$1" = update ] && exit 100\n${installs(bin, 'redis-server', 'v=7.0.15')}`)
  t.equal((await ensure(t, { PATH: bin }, root)).version, '7.0.15')
})

await t.test('when one package is unknown, the other is tried', async t => {
  for (const name of ['dnf', 'apk']) {
    const bin = t.testdir()
    program(bin, name, `case "$*" in *valkey) echo 'no package valkey'; exit 1; esac\n${installs(bin, 'redis-server', 'v=6.2.7')}`)
    t.equal((await ensure(t, { PATH: bin }, root)).version, '6.2.7', name)
  }
})

await t.test('brew is used only without root, the others only with root', async t => {
  const bin = t.testdir()
  program(bin, 'brew', installs(bin, 'redis-server', 'v=8.0.0'))
  await t.rejects(ensure(t, { PATH: bin }, root), nowhere)
  t.equal((await ensure(t, { PATH: bin }, user)).version, '8.0.0')
  const other = t.testdir()
  for (const name of ['apt-get', 'dnf', 'apk']) program(other, name, installs(other, 'redis-server', 'v=8.0.0'))
  await t.rejects(ensure(t, { PATH: other }, user), nowhere)
  t.equal(calls(other), '')
})

await t.test('an installation that fails or brings an old version is reported with its reason', async t => {
  const failing = t.testdir()
  program(failing, 'apt-get', 'echo "E: Unable to locate package"; exit 100')
  await t.rejects(ensure(t, { PATH: failing }, root), { message: /apt-get could not install redis-server:\n {2}E: Unable to locate package/ })
  const old = t.testdir()
  program(old, 'apk', installs(old, 'redis-server', 'v=5.0.7'))
  await t.rejects(ensure(t, { PATH: old }, root), { message: /apk installed redis, but there is no redis-server 6\.2 or newer now/ })
  await t.rejects(ensure(t, { PATH: old, TOOLYARD_NO_INSTALL: '1' }, root), { message: /redis-server is version 5\.0\.7/ })
})

async function ensure (t: Test, env: NodeJS.ProcessEnv, host: typeof root): ReturnType<typeof ensureRedisServer> {
  return await ensureRedisServer({ env, say: line => { t.comment(line) }, host })
}

/** A shell script that stands in for a program; it has no PATH to speak of, so builtins are all that it uses. */
function program (bin: string, name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bin, name), 0o755)
}

/** Notes the call and, at an installation, puts a server program of that version into the directory. */
function installs (bin: string, server: string, version: string): string {
  return [
    `echo "\${0##*/} $DEBIAN_FRONTEND $*" >> ${bin}/calls`,
    `case "$*" in *install*|*add*) echo '#!/bin/sh\necho ${version}' > ${bin}/${server}; /bin/chmod 755 ${bin}/${server};; esac`
  ].join('\n')
}

function calls (bin: string): string {
  return orElse(() => readFileSync(join(bin, 'calls'), 'utf8'), '')
}
