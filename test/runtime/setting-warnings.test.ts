import { settingsTold, settingWarnings, variables } from '@toolyard/runtime'
import fc from 'fast-check'
import { join } from 'node:path'
import t from 'tap'
import { typicalEnvironment } from './typical-environment.ts'

const none = 'has no effect: Toolyard has no setting of this name'

t.test('a variable that is nearly the name of a setting is a warning that names it, without its value', async t => {
  const near = {
    TOOL_MANIFEST: 'TOOL_MANIFESTS',
    REDIS_URI: 'REDIS_URL',
    WORKERS_CONCURRENCY: 'WORKER_CONCURRENCY',
    TRUSTED_PROXY: 'TRUST_PROXY',
    tool_manifests: 'TOOL_MANIFESTS',
    port: 'PORT',
    api_key_file: 'API_KEY_FILE',
    REDIS_USER_NAME: 'REDIS_USERNAME',
    METRIC_PORT: 'METRICS_PORT',
    API_KEYS: 'API_KEY',
    API_KEYS_JSON_FILES: 'API_KEYS_JSON_FILE',
    TOOL_TIMEOUT_SECS: 'TOOL_TIMEOUT_SEC',
    TOOL_TIMEOUT: 'TOOL_TIMEOUT_SEC',
    MAX_OUTPUT: 'MAX_OUTPUT_BYTES'
  }
  for (const [name, setting] of Object.entries(near)) t.strictSame(settingWarnings({ [name]: 'a-secret' }), [`${name} ${none}. Is ${setting} meant?`])
})

t.test('a variable with our prefix that is no setting is a warning', async t => {
  t.strictSame(settingWarnings({ TOOLYARD_FLAVOUR: 'a-secret' }), [`TOOLYARD_FLAVOUR ${none}, and its settings have no prefix`])
  t.strictSame(settingWarnings({ TOOLYARD_WORKER_QUEUES: 'a-secret' }), [`TOOLYARD_WORKER_QUEUES ${none}. Is WORKER_QUEUES meant?`])
  t.strictSame(settingWarnings({ TOOLYARD_TOOL_MANIFEST: 'a-secret' }), [`TOOLYARD_TOOL_MANIFEST ${none}. Is TOOL_MANIFESTS meant?`])
  t.strictSame(settingWarnings({ TOOLYARD_WORKSPACE_ROOT: 'a-secret' }), [`TOOLYARD_WORKSPACE_ROOT ${none}. Is WORKSPACE_DIR meant?`])
  t.strictSame(settingWarnings({ TOOLYARD_NO_INSTAL: '1' }), [`TOOLYARD_NO_INSTAL ${none}. Is TOOLYARD_NO_INSTALL meant?`])
  t.strictSame(settingWarnings({ TOOLYARD_URL: 'x', TOOLYARD_API_KEY: 'x', TOOLYARD_NO_INSTALL: '1', TOOLYARD_COUNT: '1', TOOLYARD_TEST_SEED: '7' }), [])
})

t.test('a setting of another system is a warning that names ours', async t => {
  const foreign = {
    WORKSPACE_ROOT: 'WORKSPACE_DIR',
    WORKER_QUEUE_ALLOWLIST: 'WORKER_QUEUES',
    CALLBACK_SIGNING_ENABLED: 'CALLBACK_SECRET',
    CALLBACK_SIGNING_SECRET: 'CALLBACK_SECRET',
    GOAGENT_REDACT: 'REDACT',
    WEB_SEARCH_BRAVE_API_KEY: 'WEB_SEARCH_BRAVE_KEY'
  }
  for (const [name, setting] of Object.entries(foreign)) {
    t.ok(Object.hasOwn(variables, setting))
    t.strictSame(settingWarnings({ [name]: 'a-secret' }), [`${name} is the setting of another system and has no effect here: the one of Toolyard is ${setting}`])
  }
})

t.test('settings, paths to files of settings, empty variables, and variables that machines set give no warning', async t => {
  const all = Object.fromEntries(Object.keys(variables).flatMap(name => [[name, '1'], [`${name}_FILE`, '/x']]))
  t.strictSame(settingWarnings({ ...all, SESSION_TEMPLATES_DIR: '.' }), [])
  t.strictSame(settingWarnings({ TOOL_MANIFEST: ' ', WORKSPACE_ROOT: '' }), [])
  t.ok(Object.keys(typicalEnvironment).length > 250)
  t.strictSame(settingWarnings(typicalEnvironment), [])
})

t.test('a line of the environment file that sets nothing is a warning with its number, without its text', async t => {
  const file = join(t.testdir({
    env: [
      'API_KEY a-secret', 'PORT:4001', '', '# a remark', '  # another', 'export REDACT', 'set LOG_LEVEL=warn', 'export HOST=::1', 'REDIS_URL = redis://x # why', 'SANDBOX: off',
      'API_KEYS_JSON=\'[', '{"key": "a-secret"}', '# within', "]'", 'EMPTY=', 'CALLBACK_SECRET="never closed', 'a-secret'
    ].join('\r\n')
  }), 'env')
  const wrong = [1, 2, 6, 7, 17].map(line => `${file}:${line} sets nothing: write NAME=value, or put # before a remark`)
  const open = `CALLBACK_SECRET in ${file} begins with a quote that is never closed, so the quote is a part of its value: close it, or take it out`
  t.strictSame(settingWarnings({}, file), [open, ...wrong])
  t.strictSame(settingWarnings(settingsTold, file), [])
  t.strictSame(settingWarnings({}, `${file}.missing`), [])
})

t.test('a quote in the environment file that is never closed is a warning, and one that belongs to a value is none', async t => {
  const file = join(t.testdir({ env: 'API_KEY="a-secret\nHOST=\'::1\nREDIS_URL="redis://x"\nAPI_KEYS_JSON=\'"x" and "y"\'\nSANDBOX="off" # why\n' }), 'env')
  const told = settingWarnings({}, file)
  t.match(told, ['API_KEY in ', 'HOST in '].map(start => new RegExp(`^${start}.* begins with a quote that is never closed`)))
  t.equal(told.length, 2)
  t.notMatch(told.join(), 'a-secret')
})

t.test('settings that have no effect without another one, and a directory that is missing, are warnings with the remedy', async t => {
  const dir = t.testdir({ file: '' })
  t.strictSame(settingWarnings({ CALLBACK_SECRET: 'a-secret-of-16-letters' }), ['CALLBACK_SECRET has no effect without CALLBACK_ALLOWLIST: set it to the hosts that may be called back'])
  t.strictSame(settingWarnings({ MCP_AUTH_TENANT_CLAIM: 'org' }), ['MCP_AUTH_TENANT_CLAIM has no effect without MCP_AUTH_ISSUER: set it to the issuer whose tokens are taken'])
  for (const path of ['missing', 'file']) {
    t.strictSame(settingWarnings({ SESSION_TEMPLATES_DIR: join(dir, path) }), ['SESSION_TEMPLATES_DIR is no directory that can be read: no session can begin as a template. Make it, or set another one'])
  }
  t.strictSame(settingWarnings({ SESSION_TEMPLATES_DIR: dir, CALLBACK_SECRET: 'a', CALLBACK_ALLOWLIST_FILE: '/x', MCP_AUTH_TENANT_CLAIM: 'a', MCP_AUTH_ISSUER: 'x' }), [])
})

t.test('no environment makes a warning with a value, or an error', async t => {
  const name = fc.oneof(fc.string({ maxLength: 80 }), fc.constantFrom(...Object.keys(variables)).chain(setting => fc.nat(setting.length).map(at => `${setting.slice(0, at)}X${setting.slice(at)}`)), fc.constantFrom('__proto__', 'constructor', 'TOOLYARD_', 'TOOLYARD_constructor', '_FILE'))
  await t.resolves(fc.assert(fc.asyncProperty(fc.array(name), async names => {
    const warnings = settingWarnings(Object.fromEntries(names.map(each => [each, '§value§'])))
    return warnings.length <= names.length && !warnings.some(line => line.includes('§value§'))
  })))
})

t.test('a setting of the environment file that only a shell would fill in is a warning, without its text', t => {
  const bad = {
    CALLBACK_SECRET: '"$(openssl rand -hex 32)"', WORKSPACE_DIR: `$${'{HOME}'}/work`, TOOL_MANIFESTS: 'tools.json, ~/skills', AUDIT_DIR: '$HOME/audit',
    SESSIONS_DIR: `$${'{HOME:-/srv}'}/sessions`, API_KEY: '$MY_KEY'
  }
  const good = {
    REDIS_USERNAME: 'a$b$', REDIS_PASSWORD: "'$5$salt$(x${'", SECRETS_KEY: '$ecret', REDIS_URL: 'redis://:p$(@h:1', BASE_PATH: '/~me', OF_A_TOOL: '$(date)'
  }
  const file = join(t.testdir({ '.env': Object.entries({ ...bad, ...good }).map(([name, value]) => `${name}=${value}\n`).join('') }), '.env')
  const told = settingWarnings({}, file).filter(each => each.includes('shell'))
  t.match(told, Object.keys(bad).map(name => new RegExp(`^${name} in .* is written for a shell, which does not read this file: write the value itself`)))
  t.equal(told.length, Object.keys(bad).length)
  t.end()
})
