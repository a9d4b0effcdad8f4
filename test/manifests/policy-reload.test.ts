import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { decidePolicy, openRegistrySource, reportReload } from '@toolyard/manifests'
import { waitFor } from '../support/condition.ts'

/* The policy file of a service that runs: whatever happens to it, rules that were in force go on until there are others. */

const asker = { key: { name: 'agent', role: 'admin', permissions: [] }, tenant: '', session: '', conversation: '' }
const above = (amount: number): string => JSON.stringify([{ when: `args.amount > ${amount}.0`, then: 'deny', reason: `above ${amount}` }])

interface Watched {
  dir: string
  file: string
  lines: string[]
  /** Waits until the log has so many lines, and gives the last one. */
  told: (count: number) => Promise<string>
  /** The outcome of a call with this amount, and why. */
  decides: (amount: number) => Promise<string>
}

async function watch (t: Test, make: (file: string, dir: string) => Promise<void>): Promise<Watched> {
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-policy-'))
  const file = join(dir, 'policy.json')
  await make(file, dir)
  const schema = { type: 'object', properties: { amount: { type: 'number' } } }
  await writeFile(join(dir, 'tools.json'), JSON.stringify({ tools: [{ name: 'pay', schema, command: ['/bin/true'] }] }))
  const lines: string[] = []
  const line = (_data: object, message: string): void => { lines.push(message) }
  const source = await openRegistrySource({
    manifests: [join(dir, 'tools.json')], builtins: false, policyFile: file, intervalMs: 20, onReload: result => { reportReload(result, { info: line, warn: line, error: line }) }
  })
  t.teardown(async () => {
    source.close()
    await rm(dir, { recursive: true })
  })
  return {
    dir,
    file,
    lines,
    told: async count => await waitFor(`line ${count} of the log`, () => lines[count - 1]),
    decides: async amount => {
      const { decision, reason } = await decidePolicy(source.current(), 'pay', { amount }, asker)
      return `${decision} ${reason ?? ''}`.trim()
    }
  }
}

/** Changes after which a file with rules is none, and what the log says of them. */
const breaks: Record<string, [(file: string, dir: string) => Promise<void>, RegExp]> = {
  'a file with half of its text': [async file => { await writeFile(file, '[{"when": ') }, /is no JSON/],
  'an empty file': [async file => { await writeFile(file, '') }, /is no JSON/],
  'a file without rules': [async file => { await writeFile(file, '{"policies": []}') }, /is no list of rules/],
  'a rule with a fault': [async file => { await writeFile(file, '[{"when": "nobody == 1", "then": "allow"}]') }, /nobody/],
  'a good rule beside one with a fault': [async file => { await writeFile(file, '[{"when": "true", "then": "allow"}, {"when": "1 +", "then": "deny"}]') }, /policy\.json/],
  'no file': [async file => { await rm(file) }, /can't be read: ENOENT/],
  'a directory': [async file => { await rm(file); await mkdir(file) }, /policy\.json: is not a file/],
  'a pipe': [async file => { await rm(file); execFileSync('mkfifo', [file]) }, /policy\.json: is not a file/],
  'a link to a device': [async file => { await rm(file); await symlink('/dev/zero', file) }, /policy\.json: is not a file/],
  'a file of 11 MB': [async file => { await writeFile(file, ' '.repeat(11e6)) }, /policy\.json: is larger than 10485760 bytes/],
  'a broken file that takes its place': [async (file, dir) => { await writeFile(join(dir, 'next'), '{'); await rename(join(dir, 'next'), file) }, /is no JSON/],
  'a link to nothing': [async (file, dir) => { await rm(file); await symlink(join(dir, 'nothing'), file) }, /can't be read: ENOENT/],
  'a link to itself': [async file => { await rm(file); await symlink(file, file) }, /can't be read: ELOOP/]
}

for (const [what, [breakIt, says]] of Object.entries(breaks)) {
  t.test(`when the policy file becomes ${what}, it is told, and the rules of before stay until it is mended`, async t => {
    const { dir, file, told, decides, lines } = await watch(t, async file => { await writeFile(file, above(5)) })
    t.equal(await decides(6), 'deny above 5')
    await breakIt(file, dir)
    t.match(await told(1), /the rules of POLICY_FILE stay in force as they were/)
    t.match(lines[0], says)
    t.equal(await decides(6), 'deny above 5')
    t.equal(await decides(4), 'allow')
    await writeFile(join(dir, 'tools.json'), JSON.stringify({ tools: [{ name: 'pay', description: 'Pays.', schema: { type: 'object', properties: { amount: { type: 'number' } } }, command: ['/bin/true'] }] }))
    await waitFor('the manifest is read again', () => lines.some(line => line === 'manifests: reloaded'))
    t.equal(await decides(6), 'deny above 5', 'also when something else is read again')
    const count = lines.length
    await rm(file, { recursive: true, force: true })
    await writeFile(file, above(5))
    t.match(await told(count + 1), /the faults of the version before are mended/, 'the same rules again')
    await writeFile(file, above(50))
    await waitFor('the new rules count', async () => await decides(6) === 'allow')
    t.equal(await decides(60), 'deny above 50')
  })
}

t.test('rules count that came by another file in its place, or by a link to another one', async t => {
  const { dir, file, decides } = await watch(t, async file => { await writeFile(file, above(5)) })
  await writeFile(join(dir, 'next'), above(50))
  await rename(join(dir, 'next'), file)
  await waitFor('the other file counts', async () => await decides(6) === 'allow')
  await Promise.all(['a', 'b'].map(async name => { await mkdir(join(dir, name)) }))
  await writeFile(join(dir, 'a', 'policy.json'), above(1))
  await writeFile(join(dir, 'b', 'policy.json'), above(2))
  // As Kubernetes mounts a ConfigMap: a link to a file behind a link that is replaced.
  await symlink('a', join(dir, 'data'))
  await symlink(join('data', 'policy.json'), join(dir, 'linked'))
  await rename(join(dir, 'linked'), file)
  await waitFor('the linked file counts', async () => await decides(6) === 'deny above 1')
  await symlink('b', join(dir, 'data.next'))
  await rename(join(dir, 'data.next'), join(dir, 'data'))
  await waitFor('the file behind the other link counts', async () => await decides(6) === 'deny above 2')
})

t.test('no call runs where the policy file was broken at the start, until it is mended', async t => {
  const { file, decides, told, dir } = await watch(t, async () => {})
  t.match(await decides(1), /^deny The policy file of this service has faults/)
  await writeFile(file, '[')
  t.match(await told(1), /the rules of POLICY_FILE stay in force as they were/)
  t.match(await decides(1), /^deny The policy file/)
  await writeFile(join(dir, 'next'), above(5))
  await rename(join(dir, 'next'), file)
  await waitFor('it is mended', async () => await decides(1) === 'allow')
  t.equal(await decides(6), 'deny above 5')
})
