import { loadRegistry, type Registry } from '@toolyard/manifests'
import t, { type Test } from 'tap'
import { errors, loadTexts } from './fixture.ts'

const server = (fields: object, mcp: object): object => ({ name: 'files', mcp, ...fields })

async function load (t: Test, entries: readonly object[]): Promise<{ registry: Registry }> {
  const { files } = await loadTexts(t, [JSON.stringify({ tools: entries })])
  return { registry: await loadRegistry({ manifests: files, builtins: false }) }
}

t.test('a stored secret may stand wherever a setting of an MCP server may, and its name is checked', async t => {
  const given = { url: { secret: 'address', prefix: 'https://a.example/mcp?key=' }, headers: { Authorization: { secret: 'far', prefix: 'Bearer ' } } }
  const { registry } = await load(t, [server({}, given), server({ name: 'near' }, { command: 'a', env: { TOKEN: { secret: 'near' } } })])
  t.match(registry.servers().map(({ connection }) => connection), [{ kind: 'http', ...given }, { kind: 'stdio', env: { TOKEN: { secret: 'near' } } }])
  for (const text of [{ secret: 'no name' }, { secret: 'a', setting: 'B' }, { secret: 1 }, { prefix: 'a' }]) {
    const { registry } = await load(t, [server({}, { command: 'a', env: { TOKEN: text } })])
    t.ok(errors(registry).length > 0, JSON.stringify(text))
  }
})

t.test('a stored secret is no part of the host of an MCP server: tenants would choose where its headers go', async t => {
  for (const prefix of [undefined, '', 'https://', 'https://a.example', 'https://a.example:', 'https://a.example?key=', 'https://a.example\\']) {
    const { registry } = await load(t, [server({}, { url: { secret: 'far', ...prefix === undefined ? {} : { prefix } } })])
    t.match(errors(registry), [{ rule: 'mcp/server', message: /takes its host from a stored secret/ }], String(prefix))
  }
})
