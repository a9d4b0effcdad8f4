import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

/** As many skills as large published collections have; with the texts of all of them no prompt is made. */
const names = Array.from({ length: 3_000 }, (_, at) => `skill-${at}`)
const skillOf = (name: string, text = 'word '): string => `---\nname: ${name}\ndescription: Does what ${name} is for.\n---\n# ${name}\n${text.repeat(600)}\n`

const env = turnEnvironment()
const files = Object.fromEntries(names.map(name => [`skills/${name}/SKILL.md`, skillOf(name)]))
const service = await createService(t, { files, manifests: ['skills'], env })
const { client, dir } = service
const leavesLoopsFree = turnsOf(service, env)
let version = 0

/** Ends when the API and the worker have the new text. */
async function change (): Promise<void> {
  const text = `version ${version++} `
  writeFileSync(join(dir, 'skills/skill-7/SKILL.md'), skillOf('skill-7', text))
  await waitFor('the new text is read', async () => {
    const { body } = await client.request<{ output: string }>('/v1/tools/read_skill', { method: 'POST', body: { skill_name: 'skill-7' } })
    return JSON.stringify(body).includes(text)
  }, 60_000)
}

t.test('promise 10: a new text of one of 3,000 skills holds up neither the API nor a worker when it is read', async t => {
  await leavesLoopsFree(t, 'a new text', change)
})

t.test('promise 10: the lists of 3,000 skills hold up nothing', async t => {
  await leavesLoopsFree(t, 'GET /v1/skills', async () => {
    const { body } = await client.request<{ count: number }>('/v1/skills')
    t.equal(body.count, names.length)
  })
  for (const method of ['skills/list', 'prompts/list', 'resources/list']) {
    await leavesLoopsFree(t, method, async () => {
      const { status, body } = await client.request('/mcp', {
        body: { jsonrpc: '2.0', id: 1, method }, headers: { accept: 'application/json', 'mcp-protocol-version': '2025-11-25' }
      })
      t.equal(status, 200)
      t.match(JSON.stringify(body), method === 'skills/list' ? /"nextCursor":"skill-\d+"/ : /skill-2999/)
    })
  }
})

t.test('the pages of skills/list have each skill once, and a cursor that is none is refused', async t => {
  const page = async (cursor?: string): Promise<{ result?: { skills: Array<{ uri: string }>, nextCursor?: string }, error?: object }> => {
    const { body } = await client.request('/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'skills/list', params: { cursor } }, headers: { accept: 'application/json', 'mcp-protocol-version': '2025-11-25' }
    })
    return body
  }
  const seen: string[] = []
  for (let next = await page(); next.result !== undefined; next = await page(next.result.nextCursor)) {
    seen.push(...next.result.skills.map(({ uri }) => uri))
    if (next.result.nextCursor === undefined) break
  }
  t.strictSame(seen.toSorted(), names.map(name => `skill://${name}/SKILL.md`).toSorted())
  t.match(await page('none'), { error: { code: -32602, message: 'No such cursor: the list has changed, begin anew' } })
})
