import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { processorMs } from '../support/processor-time.ts'
import { changeLock, changeLockFile, decidePolicy, loadRegistry, readLock, readLockFile, signatureFault, treeDigest, type LockEntry, type Registry } from '@toolyard/manifests'

interface Locked {
  dir: string
  lock: string
  entry: LockEntry
  load: (policy?: { isRequired?: boolean, trustedKeys?: string[] }, manifests?: string[]) => Promise<Registry>
  names: (registry: Registry) => string[]
}

async function locked (t: Test): Promise<Locked> {
  const dir = t.testdir({
    tools: { vendor: { 'one@1': { 'SKILL.md': '---\nname: one\ndescription: One.\n---\nText\n', references: { 'a.md': 'a' } } } },
    'own.json': '{"tools": [{"name": "own", "command": ["/bin/true"]}]}'
  })
  const lock = join(dir, 'toolyard.lock.json')
  const path = 'tools/vendor/one@1'
  const entry: LockEntry = { source: '/somewhere', path, digest: await treeDigest(join(dir, path)), status: 'experimental', previous: [] }
  await changeLockFile(lock, () => ({ entries: new Map([['one', entry]]), servers: new Map() }))
  return {
    dir,
    lock,
    entry,
    load: async ({ isRequired = false, trustedKeys = [] } = {}, manifests = [lock]) => (
      await loadRegistry({ manifests, builtins: false, lock: { file: lock, isRequired, trustedKeys } })
    ),
    names: registry => [...registry.skills().map(({ name }) => name), ...registry.all().map(({ tool }) => tool.name).filter(name => !name.includes('skill'))]
  }
}

t.test('a lock in the list of manifests stands for everything that was added', async t => {
  const { load, names } = await locked(t)
  const registry = await load()
  t.same(registry.findings, [])
  t.same(names(registry), ['one'])
})

t.test('what differs from its lock is told, and is not served where a lock is required', async t => {
  const { dir, load, names } = await locked(t)
  writeFileSync(join(dir, 'tools/vendor/one@1/references/a.md'), 'other')
  const open = await load()
  t.same(names(open), ['one'])
  t.match(open.findings, [{ severity: 'warning', rule: 'lock/differs', message: /"one" differs from the lock: it is sha256:[0-9a-f]{64}, and was accepted as sha256:/ }])
  const strict = await load({ isRequired: true })
  t.same(names(strict), [])
  t.match(strict.findings, [{ severity: 'error', rule: 'lock/differs', message: /^"one" is not served: differs from the lock/ }])
})

t.test('what the lock says of an entry is on all that its files declare; what differs is trusted by nobody', async t => {
  const { dir, lock, entry, load } = await locked(t)
  const own = join(dir, 'own.json')
  const trusted = { ...entry, path: 'own.json', status: 'trusted' as const, digest: await treeDigest(own) }
  await changeLockFile(lock, () => ({ entries: new Map([['one', entry], ['own', trusted]]), servers: new Map() }))
  const audits = (registry: Registry): unknown[] => [registry.skills()[0]?.audit, registry.get('own')?.tool.audit, registry.get('skill_run')?.tool.audit]
  t.same(audits(await load()), ['experimental', 'trusted', undefined])
  t.same(audits(await load({ isRequired: true }, [own])), [undefined, 'trusted', undefined], 'also for one that is named by itself')
  t.same(audits(await load({}, [own])), [undefined, undefined, undefined], 'what is named beside a lock is the operator\'s own')
  writeFileSync(own, '{"tools": [{"name": "own", "command": ["/bin/false"]}]}')
  t.same(audits(await load()), ['experimental', 'experimental', undefined])
})

t.test('a rule may be about the audit status of a tool, or of the skill that a call names', async t => {
  const { dir, lock, entry } = await locked(t)
  const policyFile = join(dir, 'policy.json')
  writeFileSync(policyFile, JSON.stringify([{ when: 'audit == "experimental"', then: 'hold' }]))
  const decided = async (status: 'experimental' | 'trusted'): Promise<unknown> => {
    await changeLockFile(lock, () => ({ entries: new Map([['one', { ...entry, status }]]), servers: new Map() }))
    const own = { file: lock, isRequired: false, trustedKeys: [] }
    const registry = await loadRegistry({ manifests: [lock], builtins: false, skills: { allowScripts: true }, policyFile, lock: own })
    const asker = { key: { name: 'k', role: 'admin', permissions: [] }, tenant: '', session: '', conversation: '' }
    return [await decidePolicy(registry, 'skill_run', { skill: 'one', argv: ['scripts/x'] }, asker), await decidePolicy(registry, 'activate_skill', { name: 'one' }, asker)]
  }
  t.match(await decided('experimental'), [{ decision: 'hold' }, { decision: 'allow' }])
  t.match(await decided('trusted'), [{ decision: 'allow' }, { decision: 'allow' }])
})

t.test('what is not in the lock is not served where a lock is required', async t => {
  const { dir, lock, entry, load, names } = await locked(t)
  const own = join(dir, 'own.json')
  const registry = await load({ isRequired: true }, [lock, own])
  t.same(names(registry), ['one'])
  t.match(registry.findings, [{ severity: 'error', rule: 'lock/differs', file: own, message: /LOCK=require\): .*toolyard\.lock\.json does not have it/ }])
  await changeLockFile(lock, async () => ({ entries: new Map([['one', entry], ['own', { ...entry, path: 'own.json', digest: await treeDigest(own) }]]), servers: new Map() }))
  t.same(names(await load({ isRequired: true }, [own])), ['own'])
})

for (const [title, text] of [
  ['cut in half', (whole: string) => whole.slice(0, whole.length / 2)], ['of another version', () => '{"version": 9}'], ['with a path that leads elsewhere', (whole: string) => whole.replace('tools/vendor', '../vendor')],
  ['with an absolute path', (whole: string) => whole.replace('tools/vendor', '/vendor')], ['with a status that there is not', (whole: string) => whole.replace('experimental', 'good')], ['without a digest', (whole: string) => whole.replace('sha256:', 'md5:')]
] as const) {
  t.test(`a lock ${title} is an error, and nothing of it is served`, async t => {
    const { lock, load, names } = await locked(t)
    writeFileSync(lock, text(readFileSync(lock, 'utf8')))
    for (const isRequired of [false, true]) {
      const registry = await load({ isRequired })
      t.same(names(registry), [])
      t.match(registry.findings, [{ severity: 'error', rule: 'lock/differs', file: lock }])
    }
  })
}

t.test('a reload keeps nothing of what a required lock no longer has', async t => {
  const { dir, lock, entry, load, names } = await locked(t)
  const own = join(dir, 'own.json')
  const withOwn = { ...entry, path: 'own.json', digest: await treeDigest(own) }
  await changeLockFile(lock, () => ({ entries: new Map([['one', entry], ['own', withOwn]]), servers: new Map() }))
  const before = await load({ isRequired: true }, [lock])
  t.same(names(before), ['one', 'own'])
  writeFileSync(join(dir, 'tools/vendor/one@1/references/a.md'), 'other')
  writeFileSync(own, '{"tools": [{"name": "own", "command": ["/bin/false"]}]}')
  const { registry } = await (await before.reload()).keeping(before)
  t.same(names(registry), [])
})

t.test('a digest is of paths, contents and what may be executed, and links have none', async t => {
  const dir = t.testdir({ a: { x: '1' }, b: { x: '1' }, c: { y: '1' } })
  const of = async (name: string): Promise<string> => await treeDigest(join(dir, name))
  t.equal(await of('a'), await of('b'))
  t.not(await of('a'), await of('c'))
  writeFileSync(join(dir, 'a/y'), '', { mode: 0o755 })
  writeFileSync(join(dir, 'b/y'), '', { mode: 0o644 })
  t.not(await of('a'), await of('b'))
  mkdirSync(join(dir, 'd'))
  symlinkSync('/etc/hostname', join(dir, 'd/link'))
  await t.rejects(of('d'), /is a link or a device/)
})

/** A key and its signatures in the form of minisign. */
function minisign (): { publicKey: string, signature: (content: Buffer, algorithm?: 'ED' | 'Ed', comment?: string) => string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const id = Buffer.from('12345678')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const signed = (bytes: Buffer, key: KeyObject): Buffer => sign(null, bytes, key)
  return {
    publicKey: Buffer.concat([Buffer.from('Ed'), id, raw]).toString('base64'),
    signature: (content, algorithm = 'ED', comment = 'timestamp:1') => {
      const own = signed(algorithm === 'ED' ? createHash('blake2b512').update(content).digest() : content, privateKey)
      const whole = signed(Buffer.concat([own, Buffer.from(comment)]), privateKey)
      return ['untrusted comment: x', Buffer.concat([Buffer.from(algorithm), id, own]).toString('base64'), `trusted comment: ${comment}`, whole.toString('base64'), ''].join('\n')
    }
  }
}

t.test('a signature of minisign holds for its content, its comment and its key alone', async t => {
  const [one, other] = [minisign(), minisign()]
  const content = Buffer.from('content')
  for (const algorithm of ['ED', 'Ed'] as const) t.equal(signatureFault(content, one.signature(content, algorithm), [one.publicKey]), undefined)
  t.match(signatureFault(Buffer.from('Content'), one.signature(content), [one.publicKey]), /is not of this content/)
  t.match(signatureFault(content, one.signature(content), [other.publicKey]), /is not of this content/)
  t.match(signatureFault(content, one.signature(content), []), /with a key that is not in TRUSTED_KEYS/)
  t.match(signatureFault(content, one.signature(content).replace('timestamp:1', 'timestamp:2'), [one.publicKey]), /comment that was changed/)
  t.match(signatureFault(content, 'hello', [one.publicKey]), /is no signature of minisign/)
})

t.test('a signature that minisign itself wrote holds', async t => {
  // Of the documentation of minisign.
  const key = 'RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3'
  const signature = [
    'untrusted comment: signature from minisign secret key',
    'RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=',
    'trusted comment: timestamp:1633700835\tfile:test\tprehashed',
    'wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==', ''
  ].join('\n')
  t.equal(signatureFault(Buffer.from('test'), signature, [key]), undefined)
})

t.test('a lock must be signed where a lock is required and keys are trusted', async t => {
  const { lock, load, names } = await locked(t)
  const { publicKey, signature } = minisign()
  const policy = { isRequired: true, trustedKeys: [publicKey] }
  t.match((await load(policy)).findings, [{ severity: 'error', message: /its signature is missing/ }])
  writeFileSync(`${lock}.minisig`, signature(readFileSync(lock)))
  t.same(names(await load(policy)), ['one'])
  writeFileSync(lock, `${readFileSync(lock, 'utf8')} `)
  t.match((await load(policy)).findings, [{ severity: 'error', message: /its signature is not of this content/ }])
  t.same((await readLockFile(lock)).entries.size, 1)
})

t.test('changes at the same time are all in the lock, and one that never ends is said with what to do', async t => {
  const { dir, lock, entry } = await locked(t)
  const names = Array.from({ length: 30 }, (_, at) => `other${at}`)
  await Promise.all(names.map(async name => {
    await changeLockFile(lock, ({ entries, servers }) => ({ entries: new Map([...entries, [name, entry]]), servers }))
  }))
  t.equal((await readLockFile(lock)).entries.size, 31)
  const manifest = join(dir, 'tools.json')
  writeFileSync(join(dir, 'tools.lock.json'), JSON.stringify({ version: 1, servers: { older: { tools: [] } } }))
  await Promise.all(names.map(async name => { await changeLock(manifest, now => new Map([...now, [name, []]])) }))
  t.same([...await readLock(manifest)].map(([name]) => name).sort(), [...names, 'older'].sort(), 'so are accepted servers')
  await t.rejects(changeLockFile(lock, () => { throw new Error('no') }), { message: 'no' })
  t.notOk(existsSync(`${lock}.part`))
  writeFileSync(`${lock}.part`, '')
  await t.rejects(changeLockFile(lock, each => each), { message: /is being changed by another command: remove .*toolyard\.lock\.json\.part if none runs/ })
})

t.test('a lock is read once for all servers of a manifest, for all manifests with servers, and for all that it must have', async t => {
  const words = Array.from({ length: 500 }, (_, at) => ({ name: `t${at}`, description: 'x'.repeat(100), inputSchema: { type: 'object', properties: Object.fromEntries(Array.from({ length: 40 }, (_, field) => [`p${field}`, { type: 'string', description: 'A text.' }])) } }))
  const many = Array.from({ length: 60 }, (_, at) => `many-${at}.json`)
  const dir = t.testdir({ 'one.json': manifestOf(1), 'many.json': manifestOf(60), ...Object.fromEntries(many.map(name => [name, manifestOf(1)])) })
  await changeLockFile(join(dir, 'toolyard.lock.json'), () => ({ entries: new Map(), servers: new Map([['large.json', new Map([['large', words]])]]) }))
  const cost = async (manifests: string[], isRequired = false): Promise<number> => {
    const before = processorMs()
    await loadRegistry({ manifests, builtins: false, lock: { file: join(dir, 'toolyard.lock.json'), isRequired, trustedKeys: [] } })
    return processorMs() - before
  }
  const one = await cost([join(dir, 'one.json')])
  t.ok(await cost([join(dir, 'many.json')]) < 5 * one + 200, 'servers')
  t.ok(await cost(many.map(name => join(dir, name))) < 5 * one + 200, 'manifests with servers')
  t.ok(await cost(Array.from({ length: 60 }, (_, at) => join(dir, `absent-${at}.json`)), true) < 5 * one + 200, 'manifests')
})

function manifestOf (servers: number): string {
  return JSON.stringify({ tools: Array.from({ length: servers }, (_, at) => ({ name: `s${at}`, mcp: { url: `https://mcp.example/${at}` } })) })
}
