import { readSettings, serviceFilesOf } from '@toolyard/runtime'
import { join } from 'node:path'
import t from 'tap'
import { problems } from './setting-problems.ts'

t.test('every setting can be in a file that NAME_FILE names; white space around its text does not count', async t => {
  const dir = t.testdir({ key: 'secret-in-a-file\n', keys: '[{"key": "k",\n "role": "read"}]\r\n', url: ' redis://u:p@redis:6379 \n', port: '4000' })
  const file = (name: string): string => join(dir, name)
  t.match(readSettings({ API_KEY_FILE: file('key'), API_KEYS_JSON_FILE: file('keys'), REDIS_URL_FILE: file('url'), PORT_FILE: file('port') }), {
    API_KEY: 'secret-in-a-file', API_KEYS_JSON: [{ key: 'k', role: 'read' }], REDIS_URL: 'redis://u:p@redis:6379', PORT: 4000
  })
})

t.test('an empty NAME_FILE counts as unset, and an empty NAME beside NAME_FILE too', async t => {
  const dir = t.testdir({ key: 'x' })
  t.equal(readSettings({ API_KEY_FILE: ' ' }).API_KEY, undefined)
  t.equal(readSettings({ API_KEY: '', API_KEY_FILE: join(dir, 'key') }).API_KEY, 'x')
})

t.test('a duplicate setting, a file that is missing, empty or a directory, and a bad value in a file are all refused at once', async t => {
  const dir = t.testdir({ key: 'hidden-value', blank: ' \n', url: 'http://hidden-value', keys: '[{"key": "hidden-value", "role": admin}]' })
  const found = problems({
    API_KEY: 'a',
    API_KEY_FILE: join(dir, 'key'),
    PORT_FILE: join(dir, 'missing'),
    REDACT_FILE: dir,
    WEB_SEARCH_BRAVE_KEY_FILE: join(dir, 'blank'),
    REDIS_URL_FILE: join(dir, 'url'),
    API_KEYS_JSON_FILE: join(dir, 'keys')
  })
  t.equal(found.length, 6)
  t.ok(found.includes('API_KEY and API_KEY_FILE are both set: unset one of them'))
  t.match(found.find(problem => problem.startsWith('PORT_FILE: ')), /no such file or directory.*missing/)
  t.match(found.find(problem => problem.startsWith('REDACT_FILE: ')), /directory/)
  t.ok(found.includes(`WEB_SEARCH_BRAVE_KEY_FILE: ${join(dir, 'blank')} is empty`))
  t.ok(found.some(problem => problem.startsWith('REDIS_URL must be redis://')))
  t.notMatch(found.join('\n'), 'hidden-value')
})

t.test('fault 13 the list of the service\'s files includes the files of settings, so that all can be hidden from tools', async t => {
  const file = join(t.testdir({ key: 'a-key' }), 'key')
  const env = { API_KEY_FILE: file, REDIS_URL_FILE: '', NO_SETTING_FILE: '/elsewhere', REDIS_URL: 'unix:/run/redis.sock', REDIS_TLS_KEY: '/etc/redis.key', AUDIT_DIR: '/var/audit', SECRETS_DIR: '/run/secrets' }
  const here = ['.env', '.toolyard'].map(name => join(process.cwd(), name))
  t.strictSame(serviceFilesOf(readSettings(env), env), [...here, '/var/audit', file, '/run/secrets', '/etc/redis.key', '/run/redis.sock'])
})
