import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutors, openAudit, type Outcome } from '@toolyard/executors'
import { denyTest, type Registry } from '@toolyard/manifests'
import t, { type Test } from 'tap'
import { createFixture } from '../fixture.ts'
import { threeFiles } from './fixture.ts'

const value = 'token-of-lines-0123456789'
/* eslint-disable-next-line no-template-curly-in-string -- A text for a shell. */
const show = 'echo "${#TOKEN} $TOKEN $(cat "${PEM:-/dev/null}" | wc -c)"; echo "$TOKEN" >&2'

/** Two skills with three files, and an entry of the operator about the first. */
async function lines (t: Test, entry: object): Promise<{ registry: Registry, run: (tool: string) => Promise<Outcome>, logged: string[] }> {
  const fixture = createFixture(t)
  fixture.program('show', show)
  fixture.skill('lines', threeFiles({ tools: [{ name: 'probe' }, { name: 'second' }], executions: ['probe', 'second'].map(tool => ({ tool, binary: 'show', subcommand: 'run', args: [] })) }))
  fixture.skill('other', threeFiles({ tools: [{ name: 'other' }], executions: [{ tool: 'other', binary: 'show', subcommand: 'run', args: [] }] }))
  const file = join(fixture.base, 'layer.json')
  writeFileSync(file, JSON.stringify({ tools: [{ skill: 'lines', ...entry }] }))
  const registry = await fixture.load({ allowScripts: true }, [fixture.skills, file])
  const executors = createExecutors({
    workspaceDir: fixture.workspace,
    env: { PATH: `${fixture.bin}:${process.env['PATH']}` },
    maxOutputBytes: 100_000,
    audit: openAudit({ dir: join(fixture.base, 'audit-2'), redact: '', secrets: [], onError: () => {} }),
    compileDeny: denyTest,
    secrets: { open: async (names, { tenant }) => await Promise.resolve(new Map(tenant === 'poor' ? [] : names.map(name => [name, value]))) }
  })
  t.teardown(async () => { await executors.close() })
  const logged: string[] = []
  return {
    registry,
    logged,
    async run (name) {
      const tool = registry.get(name)?.tool
      if (tool === undefined) throw new Error(JSON.stringify(registry.findings))
      return await executors.run(tool, {}, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: line => { logged.push(line) }, ...name === 'second' && { tenant: 'poor' } })
    }
  }
}

void t.test('SN1 tools of a skill with three files have the secrets that an entry of the operator gives the skill, masked in what they say; those of other skills have none', async t => {
  const { run, logged } = await lines(t, { secrets: { TOKEN: { secret: 'lines', as: 'env' }, PEM: { secret: 'lines', as: 'file' } } })
  t.match(await run('probe'), { ok: true, output: `${value.length} ***REDACTED*** ${value.length}\n` })
  t.match(await run('other'), { ok: true, output: '0  0\n' })
  t.match(await run('second'), { ok: false, error: { code: 'SECRET_MISSING', message: /lines/ } }, 'nobody has stored it for that tenant')
  t.ok(logged.includes('***REDACTED***'))
  t.notOk(logged.join().includes(value))
})

void t.test('SN1 a secret of such a skill that names hosts needs them in its network, as one of a command does', async t => {
  const use = { TOKEN: { secret: 'lines', hosts: ['api.example.com'] } }
  t.match((await lines(t, { secrets: use })).registry.findings, [{ rule: 'secrets/use', message: /"network" is no list/ }])
  const { registry } = await lines(t, { secrets: use, network: ['api.example.com'] })
  t.same(registry.findings.filter(({ rule }) => rule === 'secrets/use'), [])
  t.match(registry.get('probe')?.tool, { network: ['api.example.com'], secrets: { TOKEN: { as: 'header', hosts: ['api.example.com'] } } })
})
