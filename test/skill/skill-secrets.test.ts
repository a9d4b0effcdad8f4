import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutors, openAudit, type Outcome } from '@toolyard/executors'
import { toolOfCall, type Registry } from '@toolyard/manifests'
import t, { type Test } from 'tap'
import { createFixture } from './fixture.ts'

/* eslint-disable no-template-curly-in-string -- Texts for shells. */
const skill = (name: string): Record<string, string> => ({
  'SKILL.md': `---\nname: ${name}\ndescription: Does what ${name} is for.\n---\n# ${name}\n`,
  'scripts/show.sh': '#!/bin/sh\necho "${#TOKEN} $TOKEN ${PEM:+file} $(cat "${PEM:-/dev/null}" | wc -c)"\n'
})
const value = 'token-of-letters-0123456789'

interface Letters {
  registry: Registry
  run: (skill: string) => Promise<Outcome>
}

async function letters (t: Test, secrets: object, more: object = {}): Promise<Letters> {
  const fixture = createFixture(t)
  for (const name of ['letters', 'other']) fixture.skill(name, skill(name))
  const file = join(fixture.base, 'layer.json')
  writeFileSync(file, JSON.stringify({ tools: [{ skill: 'letters', secrets, ...more }] }))
  const registry = await fixture.load({ allowScripts: true }, [fixture.skills, file])
  const executors = createExecutors({
    workspaceDir: fixture.workspace,
    env: { PATH: process.env['PATH'] },
    maxOutputBytes: 100_000,
    audit: openAudit({ dir: join(fixture.base, 'audit-2'), redact: '', secrets: [], onError: () => {} }),
    secrets: { open: async names => await Promise.resolve(new Map(names.map(name => [name, value]))) }
  })
  t.teardown(async () => { await executors.close() })
  return {
    registry,
    async run (name) {
      const tool = registry.get('skill_run')?.tool
      if (tool === undefined) throw new Error(JSON.stringify(registry.findings))
      return await executors.run(toolOfCall(tool, { skill: name }), { skill: name, argv: ['scripts/show.sh'] }, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
    }
  }
}

void t.test('programs of a skill have the secrets that an entry of the operator gives it, masked in what they say; those of other skills have none', async t => {
  const { run } = await letters(t, { TOKEN: { secret: 'letters', as: 'env' }, PEM: { secret: 'letters', as: 'file' } })
  t.match(await run('letters'), { ok: true, output: `${value.length} ***REDACTED*** file ${value.length}\n` })
  t.match(await run('other'), { ok: true, output: '0   0\n' })
})

void t.test('hosts of a secret of a skill are those of its network, and a fault takes away the entry', async t => {
  const use = { TOKEN: { secret: 'letters', hosts: ['api.example.com'] } }
  t.match((await letters(t, use)).registry.findings, [{ rule: 'secrets/use', message: /"network" is no list/ }])
  t.match((await letters(t, use, { network: ['other.example.com'] })).registry.findings, [{ rule: 'secrets/use', message: /does not have/ }])
  const { registry } = await letters(t, use, { network: ['api.example.com'] })
  t.same(registry.findings, [])
  t.match(registry.get('skill_run')?.tool.run, { skills: { letters: { secrets: { TOKEN: { as: 'header', hosts: ['api.example.com'] } } } } })
})
