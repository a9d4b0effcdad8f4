import t from 'tap'
import type { CallResult } from '@toolyard/contract'
import { connect } from '../mcp/clients.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'

t.setTimeout(180_000)

const { keys, API_KEYS_JSON } = makeKeys({ approver: { role: 'approver' }, reader: { role: 'approver', permissions: ['read_repo'] } })
const skill = (name: string): string => `---\nname: ${name}\ndescription: x\n---\nRun scripts/run.sh\n`
const service = await createService(t, {
  tools: [{ name: 'ask_host', schema: { type: 'object' }, command: ['/bin/true'], permissions: [], network: ['api.example.com'] }],
  files: {
    'skills/writes/SKILL.md': skill('writes'),
    'skills/writes/scripts/run.sh': 'head -c "$2" /dev/zero > "$1"\n',
    'skills/reads/SKILL.md': skill('reads'),
    'skills/reads/scripts/run.sh': 'ls\n',
    'policy.json': JSON.stringify([{ when: 'session == ""', then: 'hold' }]),
    'skill-layer.json': JSON.stringify({ tools: [{ skill: 'writes', permissions: ['write_files'] }, { skill: 'reads', permissions: ['read_repo'] }] })
  },
  manifests: ['tools.json', 'skills', 'skill-layer.json'],
  env: { SKILLS_ALLOW_SCRIPTS: '1', POLICY_FILE: 'policy.json', API_KEYS_JSON }
})
const { client, api } = service

async function run (session: string, name: string, ...args: string[]): Promise<CallResult> {
  return await client.call('skill_run', { skill: name, argv: ['scripts/run.sh', ...args] }, { session })
}

t.test('a skill that may write, beside one that may not, names the files that it made', async t => {
  const session = await client.session(testKeys.admin)
  t.match(await run(session, 'writes', 'out.bin', '10'), { ok: true, files: [{ path: 'out.bin', size: 10 }] })
  t.match(await run(session, 'reads'), { ok: true, output: 'out.bin\n' })
})

t.test('a skill that may write, beside one that may not, fails beyond the quota of its session, and then no more', async t => {
  const session = await client.session(testKeys.admin, { quota_bytes: 100_000 })
  t.match(await run(session, 'writes', 'one', '200000'), { ok: false, error: { code: 'QUOTA_EXCEEDED' } })
  t.match(await run(session, 'writes', 'two', '10'), { ok: false, error: { code: 'QUOTA_EXCEEDED' } })
  t.match(await run(session, 'reads'), { ok: true, output: 'one\n' }, 'a call that can\'t write runs in a full session')
})

t.test('skill_run is hinted to write where one of its skills may, and a tool with a list of hosts to reach the network', async t => {
  const { client } = await connect(t, api.address, testKeys.admin, '2026-07-28')
  const { tools } = await client.listTools()
  const hintsOf = (tool: string): unknown => tools.find(({ name }) => name === tool)?.annotations
  t.match(hintsOf('skill_run'), { readOnlyHint: false, destructiveHint: true, openWorldHint: false })
  t.match(hintsOf('ask_host'), { readOnlyHint: false, destructiveHint: true, openWorldHint: true })
})

t.test('an approver who may not write decides about the calls of a skill that reads, and not of one that writes', async t => {
  const decide = async (skill: string, key: string): Promise<number> => {
    const { job_id: id = '' } = await client.call('skill_run', { skill, argv: ['scripts/run.sh', 'held', '1'] })
    return (await client.decide(await client.held(id), 'approve', { key })).status
  }
  t.equal(await decide('reads', keys.reader), 200)
  t.equal(await decide('writes', keys.reader), 403)
  t.equal(await decide('writes', keys.approver), 200)
})
