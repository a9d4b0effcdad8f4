import { loadEnvFile, settingWarnings } from '@toolyard/runtime'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

t.test('a file sets only settings that are not set, and a missing file is ignored', async t => {
  const dir = t.testdir({ env: 'REDACT=from the file\nAUDIT_DIR=lost\nTOOLYARD_URL=http://x\nAPI_KEY_FILE=/x' })
  process.env['AUDIT_DIR'] = 'kept'
  const names = ['REDACT', 'AUDIT_DIR', 'TOOLYARD_URL', 'API_KEY_FILE']
  t.teardown(() => { for (const name of names) delete process.env[name] })
  loadEnvFile(join(dir, 'env'))
  loadEnvFile(join(dir, 'missing'))
  t.same(names.map(name => process.env[name]), ['from the file', 'kept', 'http://x', '/x'])
})

t.test('what is no setting reaches no environment of a process, and tools alone by its name; what says how programs run reaches nobody', async t => {
  const steering = ['LD_PRELOAD', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES', 'GLIBC_TUNABLES', 'GCONV_PATH', 'NODE_OPTIONS', 'NODE_PATH', 'NODE_EXTRA_CA_CERTS', 'NODE_TLS_REJECT_UNAUTHORIZED', 'PYTHONPATH', 'PYTHONSTARTUP', 'PERL5OPT', 'PERL5LIB', 'RUBYOPT', 'BASH_ENV', 'ENV', 'SHELLOPTS', 'OPENSSL_CONF', 'SSL_CERT_FILE']
  const others = ['WEATHER_TOKEN', 'GITHUB_TOKEN', 'LDAP_PASSWORD', 'NODE_TOKEN', 'PYTHON_TOKEN', 'http_proxy', 'HTTPS_PROXY', 'TMPDIR_OF_MINE', 'BROWSER', 'TOOLYARD_SETTINGS_TOLD', 'npm_lifecycle_event']
  const names = [...steering, ...others].filter(name => process.env[name] === undefined)
  const file = join(t.testdir({ env: names.map(name => `${name}=from the file`).join('\n') }), 'env')
  const before = { ...process.env }
  const seen = loadEnvFile(file)
  t.strictSame({ ...process.env }, before)
  t.strictSame(names.filter(name => seen[name] === 'from the file'), names.filter(name => others.includes(name)))
  t.strictSame(settingWarnings({}, file).filter(line => line.includes('how programs run')).map(line => line.split(' ')[0]), names.filter(name => steering.includes(name)))
})

t.test('PATH and HOME are never those of a file', async t => {
  const file = join(t.testdir({ env: 'PATH=/evil\nHOME=/evil' }), 'env')
  const { PATH, HOME } = process.env
  t.teardown(() => { Object.assign(process.env, { PATH, ...HOME === undefined ? {} : { HOME } }) })
  delete process.env['PATH']
  delete process.env['HOME']
  const seen = loadEnvFile(file)
  t.strictSame([seen['PATH'], seen['HOME'], process.env['PATH'], process.env['HOME']], [undefined, undefined, undefined, undefined])
})

t.test('a file that exists but can\'t be read stops the start, with its name and the remedy', async t => {
  const dir = t.testdir({ directory: {}, wide: Buffer.from('SANDBOX=require', 'utf16le') })
  symlinkSync('loop', join(dir, 'loop'))
  t.throws(() => { loadEnvFile(join(dir, 'directory')) }, { name: 'SettingsError', problems: [`${join(dir, 'directory')} can't be read (EISDIR): let this user read it, or start in a directory that has none`] })
  t.throws(() => { loadEnvFile(join(dir, 'loop')) }, { name: 'SettingsError', message: /ELOOP/ })
  t.throws(() => { loadEnvFile(join(dir, 'wide')) }, { name: 'SettingsError', message: /isn't a text in UTF-8: save it as one/ })
})
