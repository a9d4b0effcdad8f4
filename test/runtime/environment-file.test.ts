import { loadEnvFile } from '@toolyard/runtime'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

t.test('a file sets only variables that are not set, and a missing file is ignored', async t => {
  const dir = t.testdir({ env: 'ENV_FILE_TEST=from the file\nENV_FILE_SET=lost' })
  process.env['ENV_FILE_SET'] = 'kept'
  t.teardown(() => { for (const name of ['ENV_FILE_TEST', 'ENV_FILE_SET']) delete process.env[name] })
  loadEnvFile(join(dir, 'env'))
  loadEnvFile(join(dir, 'missing'))
  t.same([process.env['ENV_FILE_TEST'], process.env['ENV_FILE_SET']], ['from the file', 'kept'])
})

t.test('a file that exists but can\'t be read stops the start, with its name and the remedy', async t => {
  const dir = t.testdir({ directory: {}, wide: Buffer.from('SANDBOX=require', 'utf16le') })
  symlinkSync('loop', join(dir, 'loop'))
  t.throws(() => { loadEnvFile(join(dir, 'directory')) }, { name: 'SettingsError', problems: [`${join(dir, 'directory')} can't be read (EISDIR): let this user read it, or start in a directory that has none`] })
  t.throws(() => { loadEnvFile(join(dir, 'loop')) }, { name: 'SettingsError', message: /ELOOP/ })
  t.throws(() => { loadEnvFile(join(dir, 'wide')) }, { name: 'SettingsError', message: /isn't a text in UTF-8: save it as one/ })
})
