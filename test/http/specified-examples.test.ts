import t from 'tap'
import { additions } from '../repo/rule-ids/additions.ts'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'
import { examples, type Example } from './specified-examples.ts'

const files = { 'workspace/README.md': '# My Project\n...', 'workspace/test.txt': '', 'workspace/long.txt': 'x'.repeat(54_000) }
const service = await injectService(t, { files })
const idle = await injectService(t, { files, workers: 0 })
const listed = new Set(additions.map(({ field }) => field))
const seen = new Set<string>()

/** Values that are different each time, or depend on what the example doesn't show. */
const varying = new Set(['job_id', 'request_id', 'bytes', 'preview', 'count'])

function isRecord (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Where an answer isn't what the example says; what it has beside that must be listed as an addition. */
function differences (got: unknown, wanted: unknown, at: string, isPart: boolean): string[] {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got)) return [`${at} is no list`]
    const items: readonly unknown[] = got
    const found = wanted.map(item => items.find(each => isRecord(each) && isRecord(item) && nameOf(each) === nameOf(item)))
    return wanted.flatMap((item, index) => differences(found[index] ?? items[index], item, `${at}[]`, isPart))
  }
  if (typeof wanted === 'string' && typeof got === 'string' && wanted.startsWith('{"ok"')) return differences(JSON.parse(got), JSON.parse(wanted), at, isPart)
  if (!isRecord(wanted) || !isRecord(got)) return varying.has(at.split('.').at(-1) ?? '') || JSON.stringify(got) === JSON.stringify(wanted) ? [] : [`${at}: ${JSON.stringify(got)} is not ${JSON.stringify(wanted)}`]
  const missing = Object.keys(wanted).filter(key => !(key in got)).map(key => `${at}.${key} is missing`)
  const more = isPart ? [] : Object.keys(got).filter(key => !(key in wanted)).map(key => fieldOf(at, key))
  for (const field of more) seen.add(field)
  const unlisted = more.filter(field => !listed.has(field)).map(field => `${field} is an addition that is not listed`)
  return [...missing, ...unlisted, ...Object.keys(wanted).filter(key => key in got).flatMap(key => differences(got[key], wanted[key], at === '' ? key : `${at}.${key}`, isPart))]
}

/** The output is what a model is told of it. */
function fieldOf (at: string, key: string): string {
  return (at === '' ? key : `${at}.${key}`).replace('tool_messages[].content.result', 'results[].output')
}

function nameOf (value: Record<string, unknown>): unknown {
  return isRecord(value['function']) ? value['function']['name'] : value['call_id'] ?? value['tool_call_id'] ?? value['path']
}

async function ask ({ request, withoutWorkers }: Example): Promise<{ status: number, body: unknown }> {
  const { client } = withoutWorkers === true ? idle : service
  if (request === undefined) return await client.request('/v1/agent-tools')
  return await client.request('/v1/agent-tools/invoke-batch', { body: request.body, ...request.key === 'read' ? { headers: { 'x-api-key': testKeys.read } } : {} })
}

for (const example of examples) {
  t.test(`R5 R13 the example of ${example.title} is answered as specified, apart from what is listed as an addition`, async t => {
    const { status, body } = await ask(example)
    t.equal(status, example.answer.status)
    // An example that shows a part of an answer says nothing of the rest.
    const isPart = !('ok' in example.answer.body) || example.title.endsWith('usage')
    t.strictSame(differences(body, example.answer.body, '', isPart), [])
  })
}

t.test('R5 every addition that is listed is seen in an example', async t => {
  t.strictSame([...listed].filter(field => !seen.has(field)), [])
})
