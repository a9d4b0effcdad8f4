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

const refused = async (t: Test, mcp: object): Promise<boolean> => errors((await load(t, [server({}, mcp)])).registry).some(({ rule }) => rule === 'mcp/secret')

t.test('a variable with the name of a secret may be a number, a switch, an address or a file', async t => {
  for (const [name, value] of [
    ['DEFAULT_MINIMUM_TOKENS', '10000'], ['MAX_TOKENS', '4096'], ['USE_CREDENTIALS', 'true'], ['DISABLE_TOKEN_CHECK', 'off'], ['TOKEN_URL', 'https://login.example/oauth/token'],
    ['GOOGLE_OAUTH_CREDENTIALS', '/etc/keys/gcp-oauth.keys.json'], ['SSL_PRIVATE_KEY', './tools/key.pem'], ['TOKEN_FILE', '/run/secrets/token'], ['CREDENTIALS_DIR', '~/keys']
  ] as const) t.notOk(await refused(t, { command: 'a', env: { [name]: value } }), `${name}=${value}`)
  for (const [name, value] of [
    ['DATADOG_APP_KEY', '0123456789abcdef'], ['PASSWORD', '1234'], ['API_KEY_OF_FILES', '42'], ['TOKEN', '0123456789012345'], ['TOKEN', '/abc+def/ghi='], ['TOKEN_URL', 'https://me:word@login.example/'], ['TOKEN_URL', 'https://login.example/?key=abc'], ['TOKEN_FILE', 'abcdef']
  ] as const) t.ok(await refused(t, { command: 'a', env: { [name]: value } }), `${name}=${value}`)
})

t.test('a secret among arguments is known by the option in front of it, or by the variable that it is for', async t => {
  for (const args of [
    ['--api-key', 'a-key-of-mine'], ['--figma-api-key=a-key'], ['--token=abcdef0123456789'], ['--access-token', 'abcdef0123456789'], ['run', '-e', 'NOTION_TOKEN=abcdef', 'image'], ['--env=GITHUB_TOKEN=abcdef'], ['--header', 'Authorization: Bearer abcdef']
  ]) {
    t.ok(await refused(t, { command: 'a', args }), args.join(' '))
    t.notMatch(JSON.stringify((await load(t, [server({}, { command: 'a', args })])).registry.findings), /a-key|abcdef/)
  }
  for (const args of [
    ['--max-tokens', '100'], ['--max-tokens=100'], ['--token-file', '/run/secrets/token'], ['--api-key-file=./tools/key.txt'], ['--use-secret-scanning', '--verbose'], ['--use-secret-scanning', './src'], ['--private-key', '/etc/key.pem'], ['-e', 'NOTION_TOKEN', 'image'], ['--token-type', 'bearer'], ['--header', 'x-version: 1'], ['-c', 'TOKEN=$(cat /run/secrets/token) exec server']
  ]) t.notOk(await refused(t, { command: 'a', args }), args.join(' '))
})

t.test('a placeholder of LibreChat is one, and texts with beginnings of many are looked through once', async t => {
  t.match(errors((await load(t, [server({}, { url: 'https://a.example/mcp', headers: { 'X-User': '{{LIBRECHAT_USER_ID}}' } })])).registry), [{ rule: 'mcp/secret', message: /mcp\.headers\.X-User holds a placeholder/ }])
  // A look from each beginning to the end of the text would take an hour.
  const many = (text: string): string => text.repeat(1_000_000)
  for (const env of [{ A: many('$' + '{') }, { A: `${many('$' + '{a:-')}}` }, { A: many('{env:') }, { A: many('{{') }]) await load(t, [server({}, { command: 'a', env })])
  for (const args of [[many('$' + '{A:-')], [many('{<')]]) await load(t, [server({}, { command: 'a', args })])
  t.ok(await refused(t, { url: `https://a.example/${many('{<')}>` }))
})
