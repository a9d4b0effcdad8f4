import fc from 'fast-check'
import t from 'tap'
import type { HttpRun } from '@toolyard/manifests'
import { errors, load } from './fixture.ts'

const http = { method: 'GET', url: 'https://api.example/v1' }
const entry = (request: object = {}, fields: object = {}): Record<string, unknown> => ({ name: 'probe', http: { ...http, ...request }, ...fields })

t.test('a faulty request disables only its own entry, and the finding has the place and the reason', async t => {
  const faults: Array<[request: object, rule: string, message: RegExp]> = [
    [{ method: 'TRACE' }, 'http/request', /http\.method/],
    [{ headers: { 'X-Kind': 5 } }, 'http/request', /http\.headers\.X-Kind must be string or object$/],
    [{ query: [5] }, 'http/request', /http\.query\[0\] must be string or object$/],
    [{ url: 'api.example/x' }, 'http/request', /absolute URL/],
    [{ url: 'ftp://api.example/' }, 'http/request', /https:\/\/ or http:\/\//],
    [{ url: 'https://{host}/x' }, 'http/request', /outside of its path/],
    [{ url: 'https://api.example/x?q={q}' }, 'http/request', /outside of its path/],
    [{ url: 'https://user:pw@api.example/' }, 'http/request', /user name or password/],
    [{ url: 'https://api.example/x#y' }, 'http/request', /fragment/],
    [{ url: 'https://api.example/a/../b' }, 'http/request', /can't be sent as it is written/],
    [{ url: 'https://api.example/{}' }, 'http/request', /without the name/],
    [{ url: 'https://api.example/x?api_key=abc' }, 'http/secret', /api_key/],
    [{ headers: { Authorization: 'Bearer abcdefgh' } }, 'http/secret', /stands in the manifest/],
    [{ headers: { Authorization: 'Bearer {token}' } }, 'http/secret', /takes it from a call/],
    [{ headers: { 'X-Api-Key': 'abc' } }, 'http/secret', /stands in the manifest/],
    [{ headers: { 'X-Key': { setting: 'API_KEY' } } }, 'http/secret', /secret of the service/],
    [{ query: [{ name: 'k', setting: 'REDIS_URL' }] }, 'http/secret', /secret of the service/],
    [{ headers: { Host: 'other' } }, 'http/request', /connection sets/],
    [{ headers: { 'a b': 'c' } }, 'http/request', /name that can't be sent/],
    [{ headers: { 'X-A': 'a\r\nb' } }, 'http/request', /no header can carry/],
    [{ headers: { 'X-Key': { setting: 'K', prefx: '' } } }, 'http/request', /headers/],
    [{ method: 'HEAD', body: 'json' }, 'http/request', /HEAD/],
    [{ querry: [] }, 'http/request', /querry|http/],
    [{ query: [{ argument: 'a', style: 'csv' }] }, 'http/request', /query/]
  ]
  for (const [request, rule, message] of faults) {
    const registry = await load(t, { name: 'kept', command: ['/bin/true'] }, entry(request))
    t.match(errors(registry)[0], { rule, message, tool: 'probe' }, JSON.stringify(request))
    t.strictSame(registry.all().map(({ tool }) => tool.name), ['kept'])
    t.notMatch(JSON.stringify(registry.findings), 'abcdefgh', 'no finding repeats a secret')
  }
})

t.test('of a request only what is wrong in it is told, and of a reference to a document likewise', async t => {
  const messages = async (request: object): Promise<string[]> => errors(await load(t, { name: 'probe', http: request })).map(({ message }) => message)
  t.strictSame(await messages({ url: 'https://api.example' }), ['tool[0] "probe": http.method is missing'])
  t.strictSame(await messages({ method: 'GET', url: 'https://api.example', verb: 'GET' }), ['tool[0] "probe": http.verb is no field that is known here'])
  t.strictSame((await messages({ openapi: 'api.json', url: 'https://api.example' })).slice(0, 2), ['tool[0] "probe": http.operation is missing', 'tool[0] "probe": http.url is no field that is known here'])
})

t.test('the method decides where other arguments go and whether a call may run again, unless the entry says so', async t => {
  const toolOf = async (request: object, fields: object = {}) => (await load(t, entry(request, fields))).get('probe')?.tool
  t.match(await toolOf({}), { idempotent: true, permissions: ['network'], jobType: 'agentcli.probe', run: { kind: 'http', body: { kind: 'none' } } })
  t.match(await toolOf({ method: 'POST' }), { idempotent: false, run: { body: { kind: 'json', always: false } } })
  t.match(await toolOf({ method: 'DELETE' }), { idempotent: true, run: { body: { kind: 'none' } } })
  t.match(await toolOf({ method: 'PUT' }, { idempotent: false }), { idempotent: false })
  t.match(await toolOf({ method: 'POST', body: 'form' }, { idempotent: true, permissions: [] }), { idempotent: true, permissions: ['network'], run: { body: { kind: 'form', always: true } } })
})

t.test('needless fields of an entry are reported: other permissions, fields of commands, arguments that the schema lacks', async t => {
  const registry = await load(t, entry({ url: 'https://api.example/{id}', query: ['page'] }, { permissions: ['network', 'write_files'], envPassthrough: ['X'], parameters: { type: 'object', properties: { id: { type: 'string', default: 1 } } } }))
  t.match(registry.findings.map(({ severity, rule, message }) => ({ severity, rule, message })), [
    { severity: 'warning', rule: 'X21', message: /envPassthrough/ }, { severity: 'warning', rule: 'http/request', message: /"page"/ }, { severity: 'warning', rule: 'P18', message: /write_files/ },
    { severity: 'warning', rule: 'A6', message: /the default of "id" does not fit it/ }
  ])
  t.match(registry.get('probe')?.tool.parameters, { properties: { id: { type: 'string' } } })
})

t.test('a URL template is read or refused, and never leads to another host than the written one', async t => {
  const part = fc.constantFrom('https://', 'http://', 'api.example', '@', ':', '/', '//', '{a}', '{', '}', '..', '.', '%2e', '?', '#', '\\', ' ', 'é', 'x', '%', '[', ';')
  await t.resolves(fc.assert(fc.asyncProperty(fc.array(part, { maxLength: 10 }), async parts => {
    const url = `https://api.example${parts.join('')}`
    const run = (await load(t, entry({ url }))).get('probe')?.tool.run as HttpRun | undefined
    if (run === undefined) return true
    const path = run.path.map(piece => typeof piece === 'string' ? piece : 'x').join('')
    const sent = new URL(`${run.origin}${path}${run.search}`)
    return sent.origin === run.origin && sent.pathname === path && run.origin === new URL(url.replace(/[{}]/g, 'x')).origin
  }), { numRuns: 60 }))
})
