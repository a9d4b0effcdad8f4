import fc from 'fast-check'
import t from 'tap'
import { nearNames } from '@toolyard/contract/terms'
import { entries, programs } from '../e2e/tools.ts'
import { injectService } from '../support/injected.ts'

const keys = [{ name: 'all', key: 'key-all', role: 'admin' }, { name: 'reader', key: 'key-reader', role: 'admin', permissions: ['read_repo'], queue_allowlist: ['own'] }]
const secret = { name: 'echo_secret', schema: { type: 'object' }, command: ['./tools/bin/echo'], permissions: ['network'] }
const { client } = await injectService(t, {
  files: programs, tools: [...entries, secret], workers: 0, env: { API_KEYS_JSON: JSON.stringify(keys) }
})

async function errorOf (name: string, key = 'key-all'): Promise<unknown> {
  const { results: [result] } = await client.batch([{ call_id: 'a', name }], { queue: 'own', mode: 'async' }, key)
  return result?.error
}

t.test('R28 the error of an unknown tool names the nearest ones, for the model too', async t => {
  const error = { code: 'UNKNOWN_TOOL', message: "Tool 'data_fil_read' not found in registry", details: { did_you_mean: ['data_file_read'] } }
  t.same(await errorOf('data_fil_read'), error)
  const { tool_messages: [message] } = await client.batch([{ call_id: 'a', name: 'data_fil_read' }], { queue: 'own' }, 'key-all')
  t.equal(message?.content, JSON.stringify({ ok: false, error }))
  t.same(await errorOf('fake_tool'), { code: 'UNKNOWN_TOOL', message: "Tool 'fake_tool' not found in registry" })
})

t.test("a name that begins or ends with a known tool's says which are near", async t => {
  for (const [name, near] of [['data_file_read_text', ['data_file_read']], ['functions.data_file_read', ['data_file_read']], ['echo', undefined], ['Echo_Strict', ['echo_strict', 'echo']], ['tools_', ['tools_file_search', 'tools_find_in_files']]] as const) {
    t.same((await errorOf(name) as { details?: { did_you_mean: string[] } } | undefined)?.details?.did_you_mean, near, name)
  }
})

t.test('promise 8: the suggestions never name a tool that the key may not call, or one that is off', async t => {
  t.match(await errorOf('echo_secre'), { details: { did_you_mean: ['echo_secret'] } })
  t.notMatch(JSON.stringify(await errorOf('echo_secre', 'key-reader')), /echo_secret/)
  t.notMatch(JSON.stringify(await errorOf('offf')), /"off"/)
})

t.test('few names are suggested whatever is asked for, and a name of a megabyte is answered as quickly', async t => {
  const names = Array.from({ length: 200 }, (_, at) => `tool_${'x'.repeat(50)}_${at}`)
  await t.resolves(fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 300 }), async word => nearNames(word, names).every(({ name }) => names.includes(name)))
  ))
  for (const name of [`echo${'\u0000'.repeat(100_000)}`, 'echo'.repeat(200_000), '\u001b[31mecho\n', '__proto__', 'constructor']) {
    const { results } = await client.batch([{ call_id: 'a', name }], { queue: 'own' }, 'key-all')
    t.match(results, [{ ok: false, error: { code: 'UNKNOWN_TOOL' } }])
    t.ok((results[0]?.error?.message.length ?? 0) < 600, 'the message shows its beginning')
    t.ok(((results[0]?.error?.details as { did_you_mean: string[] } | undefined)?.did_you_mean.length ?? 0) <= 3)
  }
})

t.test('where a manifest has faults, the error of an unknown tool says that these may be why', async t => {
  const faulty = await injectService(t, { files: { ...programs, 'bad.json': '{"tools": [' }, tools: entries, manifests: ['tools.json', 'bad.json'], workers: 0 })
  const { results: [result] } = await faulty.client.batch([{ call_id: 'a', name: 'no_such_tool' }], { mode: 'async' })
  t.equal(result?.error?.message, "Tool 'no_such_tool' not found in registry. A manifest of the service has faults, which may be why: `toolyard validate` shows them")
})
