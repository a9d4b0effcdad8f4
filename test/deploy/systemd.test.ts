import { readSettings } from '@toolyard/runtime'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { readCompose } from './compose.ts'
import { shellBlocks } from './document-blocks.ts'
import { strangers } from './setting-names.ts'
import { readEnvironmentFile, readUnit, unitDir, unitEnvironment, valueOf, type Unit } from './systemd.ts'

const api = readUnit('toolyard-api.service')
const worker = readUnit('toolyard-worker@.service')
const shared = readEnvironmentFile('toolyard.env.example')
const services = Object.entries({ api, worker })

function environmentOf (unit: Unit): Record<string, string> {
  const own = Object.entries(unitEnvironment(unit)).map(([name, value]) => [name, value.replace('%i', '9465').replace('%d', '/run/credentials/x')])
  return { ...shared, ...Object.fromEntries(own) as Record<string, string> }
}

t.test('the environments hold settings with good values, and files of credentials that the unit loads', async t => {
  for (const [name, unit] of services) {
    const environment = environmentOf(unit)
    t.strictSame(strangers(Object.keys(environment)), [], name)
    const credentials = (unit.get('LoadCredential') ?? []).map(value => value.split(':'))
    const files = Object.entries(environment).filter(([variable]) => variable.endsWith('_FILE')).map(([, path]) => path)
    t.strictSame(files, credentials.map(([id]) => `/run/credentials/x/${id}`), name)
    for (const [id = '', path = ''] of credentials) {
      t.ok(Object.hasOwn(readCompose().secrets, id), `npm run secrets makes ${id}`)
      t.equal(path, `/etc/toolyard/secrets/${id}`)
    }
    t.doesNotThrow(() => readSettings(Object.fromEntries(Object.entries(environment).filter(([variable]) => !variable.endsWith('_FILE')))))
  }
  t.strictSame(worker.get('LoadCredential')?.length, 1, 'workers get no API keys')
})

t.test('units have enough time to stop, and tools get no SIGTERM from systemd', async t => {
  for (const [name, unit] of services) {
    const environment = environmentOf(unit)
    const needed = Number(environment['SHUTDOWN_DELAY_SEC'] ?? 0) + Number(environment['SHUTDOWN_GRACE_SEC']) + 5
    t.ok(Number(valueOf(unit, 'TimeoutStopSec')) > needed, name)
    t.equal(valueOf(unit, 'KillMode'), 'mixed', name)
    t.equal(valueOf(unit, 'ExecStart'), `/srv/toolyard/node_modules/.bin/toolyard ${name}`)
  }
  t.ok(Number(environmentOf(api)['SHUTDOWN_GRACE_SEC']) > 60, 'the longest batch is answered')
})

t.test('API and worker have users of their own, which may write only where the worker must', async t => {
  const users = [...readFileSync(join(unitDir, 'sysusers.conf'), 'utf8').matchAll(/^u (\S+)/gm)].map(([, user]) => user)
  t.strictSame(services.map(([, unit]) => valueOf(unit, 'User')), users)
  for (const [name, unit] of services) {
    t.match(Object.fromEntries([...unit].map(([key, values]) => [key, values.at(-1)])), {
      NoNewPrivileges: 'yes', ProtectSystem: 'strict', ProtectHome: 'yes', PrivateTmp: 'yes', CapabilityBoundingSet: '', SystemCallArchitectures: 'native'
    }, name)
    t.notOk(unit.has('ReadWritePaths'), name)
  }
  t.notOk(api.has('StateDirectory'))
  const places = valueOf(worker, 'StateDirectory').split(' ').map(place => `/var/lib/${place.replace('%i', '9465')}`)
  for (const setting of ['WORKSPACE_DIR', 'SESSIONS_DIR', 'AUDIT_DIR']) t.ok(places.includes(environmentOf(worker)[setting] ?? ''), setting)
})

t.test('the file that lets files in and out gives the API the user, the places and the directories of the workers', async t => {
  const files = readUnit('toolyard-api-files.conf')
  for (const key of ['User', 'Group']) t.equal(valueOf(files, key), valueOf(worker, key), key)
  const [given, ofWorker] = [environmentOf(files), environmentOf(worker)]
  for (const setting of ['WORKSPACE_DIR', 'SESSIONS_DIR']) {
    t.equal(given[setting], ofWorker[setting], setting)
    t.ok(valueOf(files, 'StateDirectory').split(' ').includes(String(given[setting]).replace('/var/lib/', '')), `${setting} may be written to`)
  }
  t.strictSame(strangers(Object.keys(unitEnvironment(files))), [])
})

t.test('the unit of a worker allows what bubblewrap and the control groups of tools need', async t => {
  t.equal(environmentOf(worker)['SANDBOX'], 'require')
  for (const key of [
    'RestrictNamespaces', 'ProtectHostname', 'ProtectKernelTunables', 'ProtectKernelLogs', 'ProcSubset', 'ProtectControlGroups', 'MemoryDenyWriteExecute'
  ]) t.notOk(worker.has(key), key)
  const [calls = ''] = worker.get('SystemCallFilter') ?? []
  for (const call of ['@system-service', '@mount', 'sethostname']) t.ok(calls.split(' ').includes(call), call)
  t.equal(worker.get('SystemCallFilter')?.length, 1, 'and none is taken away again')
  t.equal(valueOf(worker, 'Delegate'), 'memory pids cpu')
  t.ok(valueOf(worker, 'RestrictAddressFamilies').split(' ').includes('AF_NETLINK'), 'bubblewrap raises the loopback of a box')
})

t.test('the steps of docs/operations.md install every file', async t => {
  const dir = t.testdir()
  const lines = shellBlocks('docs/operations.md', 'With systemd').flatMap(block => block.split('\n')).filter(line => line.startsWith('install '))
  for (const line of lines) {
    // Without the owner: the test isn't root. The target is below a directory of the test.
    const command = line.replace(/ -o \S+/g, '').replaceAll(/ \/(etc|srv|usr)\//g, ` ${dir}/$1/`)
    execFileSync('/bin/sh', ['-ec', command.replace(/\.toolyard\/secrets\/\S+/g, 'package.json')], { cwd: repoRoot })
  }
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const installed = files.map(entry => join(entry.parentPath, entry.name).slice(dir.length))
  for (const file of readdirSync(unitDir).filter(name => /\.(service|target)$/.test(name))) t.ok(installed.includes(`/etc/systemd/system/${file}`), file)
  t.ok(installed.includes('/etc/toolyard/toolyard.env'))
  t.ok(installed.includes('/etc/systemd/system/toolyard-api.service.d/files.conf'))
  t.ok(installed.includes('/etc/sysusers.d/toolyard.conf'))
  for (const [, path = ''] of (api.get('LoadCredential') ?? []).map(value => value.split(':'))) t.ok(installed.includes(path), path)
})

const analyze = ['/usr/bin/systemd-analyze', '/bin/systemd-analyze'].find(existsSync)
const missing = analyze === undefined ? 'there is no systemd-analyze on this machine' : false

t.test('systemd-analyze finds no fault in the units, and finds a planted one', { skip: missing }, async t => {
  const dir = t.testdir()
  const names = readdirSync(unitDir).filter(name => /\.(service|target)$/.test(name))
  const faults = (change: (text: string) => string): string[] => {
    mkdirSync(join(dir, 'toolyard-api.service.d'), { recursive: true })
    writeFileSync(join(dir, 'toolyard-api.service.d/files.conf'), change(readFileSync(join(unitDir, 'toolyard-api-files.conf'), 'utf8')))
    for (const name of names) {
      // The programs of the units aren't installed here.
      const text = readFileSync(join(unitDir, name), 'utf8').replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true').replace(/^ExecReload=kill/m, 'ExecReload=/bin/kill')
      writeFileSync(join(dir, name.replace('@.', '@9465.')), change(text))
    }
    const { stderr } = spawnSync(analyze ?? '', ['verify', '--man=no', ...names.map(name => join(dir, name.replace('@.', '@9465.')))], { encoding: 'utf8' })
    return stderr.split('\n').filter(line => line.includes('toolyard'))
  }
  t.strictSame(faults(text => text), [])
  t.match(faults(text => text.replace('KillMode=', 'KilMode=')), [/KilMode/])
  t.match(faults(text => text.replace('StateDirectoryMode=0750', 'StateDirectoryMod=0750')), [/StateDirectoryMod/, /StateDirectoryMod/], 'nor in the file for the API')
})

t.test('systemd-analyze rates the exposure of the units as low', { skip: missing }, async t => {
  for (const [name, most] of [['toolyard-api.service', 15], ['toolyard-worker@.service', 33]] as const) {
    const { status, stdout } = spawnSync(analyze ?? '', ['security', '--offline=true', '--no-pager', `--threshold=${most}`, join(unitDir, name)], { encoding: 'utf8' })
    t.equal(status, 0, /Overall exposure.*/.exec(stdout)?.[0] ?? stdout)
  }
})

t.test('docs/security.md links to the units and has no copy of them', async t => {
  const page = readFileSync(join(repoRoot, 'docs/security.md'), 'utf8')
  t.match(page, '../deploy/systemd/')
  t.notMatch(page, /^ExecStart=/m)
  t.ok(existsSync(join(dirname(join(repoRoot, 'docs/security.md')), '../deploy/systemd/toolyard-worker@.service')))
})
