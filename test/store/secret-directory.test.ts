import { execFileSync } from 'node:child_process'
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openSecretSource, StoredSecrets } from '@toolyard/store'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

interface Opened {
  read: (name: string) => Promise<string | undefined>
  faults: object[]
}

function directory (dir: string, stored?: StoredSecrets): Opened {
  const faults: object[] = []
  const source = openSecretSource(stored, { directory: dir, vault: undefined }, fault => { faults.push(fault) })
  return {
    faults,
    async read (name) {
      const values = await source?.open([name], { keyName: undefined, tenant: undefined })
      return values === undefined || 'fault' in values ? undefined : values.get(name)
    }
  }
}

void t.test('a file of the directory is the secret of its name, without the line break at its end, and one that is gone is missing at once', async t => {
  const dir = t.testdir({ github: 'a-token\n', lines: 'a\nb\r\n', empty: '\n' })
  const { read, faults } = directory(dir)
  t.strictSame(await Promise.all(['github', 'lines', 'empty', 'other'].map(read)), ['a-token', 'a\nb', undefined, undefined])
  writeFileSync(join(dir, 'github'), 'another')
  t.equal(await read('github'), 'another')
  rmSync(join(dir, 'github'))
  t.equal(await read('github'), undefined)
  t.strictSame(faults, [])
})

void t.test('links as Kubernetes mounts files are followed, and a swap of all of them is seen', async t => {
  const dir = t.testdir({ '..1': { api: 'first' }, '..2': { api: 'second' } })
  symlinkSync('..1', join(dir, '..data'))
  symlinkSync('..data/api', join(dir, 'api'))
  const { read } = directory(dir)
  t.equal(await read('api'), 'first')
  symlinkSync('..2', join(dir, '..new'))
  renameSync(join(dir, '..new'), join(dir, '..data'))
  t.equal(await read('api'), 'second')
  t.same([await read('..data'), await read('..'), await read('.')], [undefined, undefined, undefined])
})

void t.test('what leads out of the directory, is no file, is too large or no text is missing, and the fault shows nothing of it', async t => {
  const top = t.testdir({ outside: 'not-for-tools', inside: { inner: {} } })
  const dir = join(top, 'inside')
  symlinkSync('../outside', join(dir, 'out'))
  symlinkSync('loop', join(dir, 'loop'))
  execFileSync('mkfifo', [join(dir, 'pipe')])
  writeFileSync(join(dir, 'large'), 'x'.repeat(65_537))
  writeFileSync(join(dir, 'whole'), 'x'.repeat(65_536))
  writeFileSync(join(dir, 'bytes'), Buffer.of(0x61, 0xff))
  const { read, faults } = directory(dir)
  for (const name of ['out', 'loop', 'pipe', 'inner', 'large', 'bytes']) t.equal(await read(name), undefined, name)
  t.strictSame(faults.map(fault => (fault as { reason: string }).reason), [
    'it leads out of SECRETS_DIR', 'ELOOP', 'it is no file', 'it is no file', 'it has more than 65536 bytes', 'it is no UTF-8'
  ])
  t.equal((await read('whole'))?.length, 65_536)
})

void t.test('no name of a secret leads out of the directory', async (t: Test) => {
  const top = t.testdir({ outside: 'not-for-tools', inside: { github: 'a-token' } })
  const { read } = directory(join(top, 'inside'))
  const part = fc.constantFrom('..', '.', '/', 'outside', 'inside', 'github', '\0', '%2f', '\\')
  await fc.assert(fc.asyncProperty(fc.array(part, { maxLength: 6 }), async parts => {
    const value = await read(parts.join(''))
    if (value !== undefined && parts.join('') !== 'github') throw new Error(`${parts.join('')} gave ${value}`)
  }))
})

void t.test('a stored secret comes before a file of its name, a tenant\'s too', async t => {
  const dir = t.testdir({ github: 'of file' })
  const keys = { current: randomBytes(32), previous: undefined }
  const stored = new StoredSecrets(await connectTo(t, await startTestRedis(t)), keys)
  const { read } = directory(dir, stored)
  t.equal(await read('github'), 'of file')
  await stored.put('github', { kind: 'operator' }, 'of store', undefined)
  t.equal(await read('github'), 'of store')
  await stored.remove('github', { kind: 'operator' })
  t.equal(await read('github'), 'of file', 'at the next call')
})
