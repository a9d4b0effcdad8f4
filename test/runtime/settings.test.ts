import { join, resolve } from 'node:path'
import { apiKeysOf, declarationsOf, parseApiKeys, readSettings, redisTargetOf } from '@toolyard/runtime'
import t from 'tap'
import { problems } from './setting-problems.ts'

t.test('R46 an empty environment gives the documented defaults', async t => {
  t.match(readSettings({}), {
    HOST: '127.0.0.1', PORT: 3001, REDIS_URL: undefined, TOOL_TIMEOUT_SEC: 30, WORKER_QUEUES: ['*'], WORKER_CONCURRENCY: 8, MAX_OUTPUT_BYTES: 1_048_576, MAX_QUEUES: 64, LOG_LEVEL: 'info'
  })
})

t.test('an empty variable counts as unset', async t => {
  t.equal(readSettings({ PORT: '', REDIS_URL: ' ' }).PORT, 3001)
})

t.test('every bad value is reported at once, with its name and what is allowed, and without the value', async t => {
  const found = problems({ PORT: '99999', WORKER_CONCURRENCY: '2.5', TOOL_TIMEOUT_SEC: '-1', LOG_LEVEL: 'loud', API_AUTH_DISABLED: 'maybe', REDIS_URL: 'http://secret' })
  t.same(found, [
    'PORT must be an integer 0..65535',
    'REDIS_URL must be redis://host:port, rediss://host:port or unix:/path/of/socket',
    'API_AUTH_DISABLED must be one of 1, true, yes, on, 0, false, no, off',
    'TOOL_TIMEOUT_SEC must be a number 0.1..3600',
    'WORKER_CONCURRENCY must be an integer 1..1000',
    'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent'
  ])
})

t.test('fractions of a second are allowed where the setting is in seconds', async t => {
  t.equal(readSettings({ TOOL_TIMEOUT_SEC: '0.5' }).TOOL_TIMEOUT_SEC, 0.5)
})

t.test('lists are split at commas, semicolons and line breaks, and trimmed', async t => {
  for (const list of ['a, b:c ,,d', 'a; b:c;d;', 'a\n  b:c\r\nd\n']) t.same(readSettings({ WORKER_QUEUES: list }).WORKER_QUEUES, ['a', 'b:c', 'd'], list)
  t.match(readSettings({
    TOOL_MANIFESTS: 'a.json;b c.json', TRUST_PROXY: 'loopback;10.0.0.0/8', REDIS_CLUSTER_NODES: 'a;b:1', PERMISSIONS_ALLOWED: 'read_repo;network', CALLBACK_ALLOWLIST: 'a.test;::1',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1;2,b=3'
  }), {
    TOOL_MANIFESTS: ['a.json', 'b c.json'], TRUST_PROXY: ['loopback', '10.0.0.0/8'], REDIS_CLUSTER_NODES: [{ host: 'a' }, { host: 'b', port: 1 }], PERMISSIONS_ALLOWED: ['read_repo', 'network'],
    CALLBACK_ALLOWLIST: ['a.test', '[::1]'], OTEL_EXPORTER_OTLP_HEADERS: { a: '1;2', b: '3' }
  })
  for (const name of ['REDIS_CLUSTER_NODES', 'PERMISSIONS_ALLOWED', 'WORKER_QUEUES']) t.match(problems({ [name]: ' ; , ' })[0], new RegExp(`^${name} must be`))
})

t.test('an invalid queue name, host or path, and a key that can\'t be in a header, are refused', async t => {
  const queues = 'WORKER_QUEUES must be *, or a comma-separated list of queue names, each matching ^[a-z0-9._:-]{1,80}$'
  for (const value of ['Bad Queue', ',', 'a, ?']) t.same(problems({ WORKER_QUEUES: value }), [queues], value)
  const hosts = 'DATA_FETCH_ALLOWLIST must be a comma-separated list of host names such as example.com, without scheme, port and path, or *'
  for (const value of ['https://example.com', 'example.com:8080', 'example.com/path', 'ex ample.com', ',', 'a.test, u@b.test', '[::1', '1.2.3.4.5.6']) t.same(problems({ DATA_FETCH_ALLOWLIST: value }), [hosts], value)
  for (const value of ['/a/../b', '/.', '/a/./b', 'a']) t.same(problems({ BASE_PATH: value }), ['BASE_PATH must be a path such as /toolyard'], value)
  t.equal(readSettings({ BASE_PATH: '/.a/b..c/' }).BASE_PATH, '/.a/b..c')
  t.match(problems({ API_KEY: 'schlüssel' })[0], /^API_KEY must be a text of printable ASCII characters/)
  t.match(problems({ API_KEYS_JSON: '[{"key":"a\\u0000b","role":"read"}]' })[0], /api\.auth\.keys\[0\]\.key must be of printable ASCII characters/)
})

t.test('hosts in lists are normalized as in URLs', async t => {
  const { CALLBACK_ALLOWLIST: hosts } = readSettings({ CALLBACK_ALLOWLIST: '*.Example.com, münchen.invalid, ::1, 127.1, example.org., *' })
  t.same(hosts, ['example.com', 'xn--mnchen-3ya.invalid', '[::1]', '127.0.0.1', 'example.org', '*'])
})

t.test('RC3 API_KEYS_JSON replaces API_KEY, which alone is an admin', async t => {
  t.match(apiKeysOf(readSettings({ API_KEY: 'secret' })), [{ name: 'default', key: 'secret', role: 'admin', queueAllowlist: undefined }])
  const keys = apiKeysOf(readSettings({ API_KEY: 'secret', API_KEYS_JSON: '[{"key":"k","role":"read"},{"name":"n","key":"l","role":"admin","queue_allowlist":"a, b"}]' }))
  t.match(keys, [{ name: 'key-1', role: 'read', sse: true }, { name: 'n', role: 'admin', queueAllowlist: ['a', 'b'] }])
  t.equal(keys.length, 2)
})

t.test('RC4, X35 a bad API_KEYS_JSON is refused with the entry and the reason', async t => {
  const message = (json: string): string => {
    try {
      parseApiKeys(json)
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }
  t.match(message('{'), /^\[auth\] invalid API_KEYS_JSON JSON: /)
  t.equal(message('{}'), 'API_KEYS_JSON must be a JSON array')
  t.equal(message('[1]'), 'api.auth.keys[0] must be an object')
  t.equal(message('[{"role":"read"}]'), 'api.auth.keys[0].key is required')
  t.equal(message('[{"key":"a","role":"read"},{"key":"b"}]'), 'api.auth.keys[1].role is required: one of admin, approver, read')
  t.equal(message('[{"key":"a","role":null}]'), 'api.auth.keys[0].role is required: one of admin, approver, read')
  t.equal(message('[{"key":"a","role":"root"}]'), 'api.auth.keys[0].role must be one of: admin, approver, read')
  t.equal(message('[{"key":"a","role":"read","queue_allowlist":["ok","Bad"]}]'), "api.auth.keys[0].queue_allowlist has invalid queue 'Bad'")
  for (const name of ['', ' ', '@acme', 'oauth:bob', 'auth-disabled', '..', 'a\nb', 'a ', '\ud800', 'x'.repeat(101), 7, null]) {
    t.match(message(JSON.stringify([{ key: 'a', role: 'read', name }])), /^api\.auth\.keys\[0\]\.name must have 1 to 100 characters/, String(name))
  }
  t.match(message('[{"key":"a","role":"read","quue_allowlist":[]}]'), /^api\.auth\.keys\[0\] has an unknown field 'quue_allowlist'/)
})

t.test('an error about the keys has no part of a key', async t => {
  const [problem] = problems({ API_KEYS_JSON: '[{"key": "top-secret-value", "role": admin}]' })
  t.match(problem, /API_KEYS_JSON/)
  t.notMatch(problem, /top-secret/)
})

t.test('API_AUTH_DISABLED works only without a key and on loopback', async t => {
  t.same(apiKeysOf(readSettings({ API_AUTH_DISABLED: '1' })), [])
  t.throws(() => apiKeysOf(readSettings({ API_AUTH_DISABLED: '1', API_KEY: 'x' })), /works only when neither API_KEY nor API_KEYS_JSON is set/)
  t.throws(() => apiKeysOf(readSettings({ API_AUTH_DISABLED: '1', HOST: '0.0.0.0' })), /works only on loopback/)
})

t.test('a process without a Redis to connect to says how to get one', async t => {
  t.throws(() => redisTargetOf(readSettings({})), /REDIS_URL must be set.*`toolyard start`/)
})

t.test('a Redis address whose password holds what ends one says how that is written, without the password', async t => {
  for (const url of ['redis://:pa/ss@host:6379', 'redis://:pa#ss@host:6379', 'redis://user:12/34@host', 'redis://:pa?ss@host', 'rediss://user:s@p/a@host:6379/0']) {
    const [problem = '', ...others] = problems({ REDIS_URL: url })
    t.match(problem, /^REDIS_URL: a user name or password in it has one of .* %2F .*REDIS_PASSWORD as it is$/, url)
    t.strictSame(others, [])
    t.notMatch(problem, /pa.ss|12.34|s@p/)
  }
  for (const url of ['redis://:pa%2Fss@host:6379', 'redis://:p@ss@host:6379', 'redis://host:6379/0', 'rediss://user:pass@host']) t.equal(readSettings({ REDIS_URL: url }).REDIS_URL, url)
})

t.test('a password of an address that is not written as one has its remedy', async t => {
  for (const password of ['a/b', 'a#b', 'a?b', 'a%zz', '100%']) {
    t.match(problems({ REDIS_URL: `redis://:${password}@127.0.0.1:6379` }), [/^REDIS_URL.* write %2F .*%25/], password)
  }
  t.equal(readSettings({ REDIS_URL: 'redis://:a%25%2fb@127.0.0.1' }).REDIS_URL, 'redis://:a%25%2fb@127.0.0.1')
})

t.test('sessions don\'t lie in the workspace, where calls without one would reach them, by no link either', t => {
  const dir = t.testdir({ data: { sessions: {} }, link: t.fixture('symlink', 'data'), linked: { sessions: t.fixture('symlink', '../data/sessions') } })
  const at = (path: string): string => join(dir, path)
  const found = (workspace: string, sessions: string) => problems({ WORKSPACE_DIR: at(workspace), SESSIONS_DIR: at(sessions) })
  for (const [workspace, sessions] of [['data', 'data/sessions'], ['data', 'data'], ['data', 'data/not/there'], ['link', 'data/sessions'], ['data', 'link/sessions'], ['data', 'linked/sessions']] as const) {
    t.match(found(workspace, sessions), [/^SESSIONS_DIR must not lie in WORKSPACE_DIR/], `${sessions} in ${workspace}`)
  }
  for (const [workspace, sessions] of [['data', 'data-sessions'], ['data/sessions', 'data'], ['linked', 'data'], ['not/there', 'not/sessions']] as const) t.same(found(workspace, sessions), [], `${sessions} beside ${workspace}`)
  t.match(problems({ WORKSPACE_DIR: '/' }), [/^SESSIONS_DIR must not lie/])
  t.same(problems({ WORKSPACE_DIR: '.' }), [])
  t.end()
})

t.test('a file in the place of a directory, or above it, is named with its setting', t => {
  const dir = t.testdir({ file: '', directory: {} })
  const at = (path: string): string => join(dir, path)
  for (const name of ['WORKSPACE_DIR', 'SESSIONS_DIR', 'AUDIT_DIR']) {
    for (const path of ['file', 'file/below/it']) t.strictSame(problems({ [name]: at(path) }), [`${name} must be a directory, or one that can be made: ${at('file')} is a file`])
    for (const path of ['directory', 'directory/below/it', 'not/there']) t.strictSame(problems({ [name]: at(path) }), [])
  }
  t.end()
})

t.test('manifests, their programs, rules and templates are declarations; nothing around the workspace or the sessions is', t => {
  const settings = { TOOL_MANIFESTS: '/p/tools.json,/p,/p/skills,/q/python.yaml', POLICY_FILE: '/p/rules.json', SESSION_TEMPLATES_DIR: '/p/templates', WORKSPACE_DIR: '/p/tools/work' }
  const found = declarationsOf(readSettings(settings), {})
  for (const path of ['/p/tools.json', '/p/SKILL.md', '/p/skills', '/q/python.yaml', '/p/rules.json', '/p/templates', resolve('toolyard.lock.json'), resolve('tools')]) t.ok(found.includes(path), path)
  for (const path of ['/p', '/p/tools', '/']) t.notOk(found.includes(path), path)
  t.ok(declarationsOf(readSettings({ ...settings, WORKSPACE_DIR: '/w' }), {}).includes('/p/tools'))
  t.end()
})

t.test('a skill that is named by one of its files is a declaration as a whole, with its scripts and what it allows', t => {
  const dir = t.testdir({
    skill: { 'SKILL.md': '', 'tools.json': '[]', 'list.yaml': '' },
    small: { 'skill.md': '', 'tools.json': '[]' },
    versioned: { versions: {}, active: '1', 'tools.json': '[]' },
    'tools.json': '{}',
    'no-skill': { 'tools.json': '{}' }
  })
  const found = (path: string, work = ''): string[] => declarationsOf(readSettings({ TOOL_MANIFESTS: join(dir, path), WORKSPACE_DIR: join(dir, work) }), {})
  for (const manifest of ['skill', 'skill/SKILL.md', 'skill/tools.json', 'skill/list.yaml', 'small/skill.md', 'small/tools.json', 'versioned/tools.json']) {
    t.ok(found(manifest).includes(join(dir, manifest.split('/')[0] ?? '')), manifest)
  }
  t.notOk(found('tools.json').includes(dir))
  t.notOk(found('no-skill/tools.json').includes(join(dir, 'no-skill')))
  for (const [manifest, ...declared] of [
    ['skill/SKILL.md', 'SKILL.md', 'scripts'], ['small', 'skill.md', 'scripts'], ['versioned/tools.json', 'active', 'versions']
  ] as const) {
    const [skill = ''] = manifest.split('/')
    for (const work of [skill, `${skill}/work`]) {
      const around = found(manifest, work)
      for (const name of ['tools.json', 'allowlist.json', 'execution.json', 'tools', ...declared]) t.ok(around.includes(join(dir, skill, name)), name)
    }
  }
  t.notOk(found('no-skill', 'no-skill').includes(join(dir, 'no-skill/scripts')), 'who works on a project may write its scripts')
  t.end()
})
