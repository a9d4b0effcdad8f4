import { existsSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { boxed } from '../python/fixture.ts'
import { createService } from '../support/service.ts'
import { waitFor } from '../support/condition.ts'

const skip = boxed.skip
t.setTimeout(180_000)
const samples = join(import.meta.dirname, '../../../samples/hostile/tools')
const keys = { attacker: 'the-key-of-the-attacker-01', victim: 'the-key-of-the-victim-0123' }
const tools = ['Meddle', 'Wait'].map(name => ({ name: name.toLowerCase(), description: name, module: 'tools.hostile', class_name: name, permissions: ['read_repo', 'write_files'] }))
const manifest = JSON.stringify({ schema_version: '1.0', metadata: { name: 'hostile', description: 'Python tools of one module' }, tools })

void t.test('fault 17 a Python call of one key neither ends nor answers calls of another key that the same process forked', { skip }, async t => {
  const sources = await Promise.all(['hostile.py', 'bin/escape.py', 'bin/kernel.py', 'bin/devour.py'].map(async name => [`tools/${name}`, await readFile(join(samples, name), 'utf8')]))
  const { client, dir } = await createService(t, {
    files: { ...Object.fromEntries(sources) as Record<string, string>, 'manifest.json': manifest },
    manifests: ['manifest.json'],
    env: { HOME: '/nonexistent', SANDBOX: 'require', API_KEYS_JSON: JSON.stringify(Object.entries(keys).map(([name, key]) => ({ name, key, role: 'admin' }))) }
  })
  const names = ['first', 'second', 'third']
  const victims = names.map(async name => {
    const { results } = await client.batch([{ call_id: name, name: 'wait', arguments: { name, secret: `${name}-secret` } }], {}, keys.victim)
    return results[0]
  })
  let settled = 0
  for (const victim of victims) void victim.finally(() => { settled += 1 })
  await waitFor('the victims run', () => names.every(name => existsSync(join(dir, 'workspace', `${name}.up`))))

  for (const what of ['report', 'forge', 'end', 'report', 'forge', 'end']) {
    const { results: [attack] } = await client.batch([{ call_id: what, name: 'meddle', arguments: { what } }], {}, keys.attacker)
    if (what === 'report') t.match(attack, { ok: true, output: { reached: [] } }, JSON.stringify(attack))
    if (what === 'end') t.match(attack, { ok: false, error: { message: 'signal: SIGKILL' } }, JSON.stringify(attack))
    t.equal(settled, 0, `${what}: the others go on`)
  }
  writeFileSync(join(dir, 'workspace/go'), '')
  t.strictSame((await Promise.all(victims)).map(result => [result?.ok, result?.output]), names.map(name => [true, { secret: `${name}-secret` }]))
})
