import { createHash } from 'node:crypto'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { connect, eras, meta } from './clients.ts'

const { API_KEYS_JSON } = makeKeys({ read: {}, limited: { permissions: [] } })
const script = (body: string): string => `#!/bin/sh\n${body}\n`
const texts = (...names: string[]): object => ({ type: 'object', properties: Object.fromEntries(names.map(name => [name, { type: 'string', description: `The ${name}.` }])), required: names })
const skill = (name: string, text = 'Use it well.'): string => `---\nname: ${name}\ndescription: Does ${name}\nlicense: MIT\nargument-hint: [paper] [copies]\n---\n${text}\n`
const tools = [
  { name: 'plain', command: ['./tools/bin/echo'] },
  { name: 'greeting', description: 'A greeting.', schema: texts('who'), command: ['./tools/bin/greeting'], publishAs: 'prompt' },
  { name: 'picture', schema: {}, command: ['./tools/bin/blocks'], publishAs: 'prompt' },
  {
    name: 'language', schema: { type: 'object', properties: { code: { type: 'string', enum: ['de', 'da', 'en'] } } }, command: ['./tools/bin/echo'], publishAs: 'prompt'
  },
  { name: 'failing', schema: {}, command: ['./tools/bin/failing'], publishAs: 'prompt' },
  { name: 'report', description: 'A report.', schema: texts('year', 'month'), command: ['./tools/bin/echo'], publishAs: { uri: 'report://{year}/{month}', mimeType: 'application/json' } },
  { name: 'logo', schema: {}, command: ['./tools/bin/blocks'], publishAs: { uri: 'logo:main' } },
  { name: 'bytes', schema: {}, command: ['./tools/bin/bytes'], publishAs: { uri: 'bytes:all', mimeType: 'application/zip' } },
  { name: 'online', schema: {}, command: ['./tools/bin/echo'], permissions: ['network'], publishAs: { uri: 'online:all' } }
]
const { client: http, api, dir } = await createService(t, {
  files: {
    'tools/bin/echo': script('cat'),
    'tools/bin/greeting': script('cat >/dev/null; echo "\\"Hello\\""'),
    'tools/bin/blocks': script('cat >/dev/null; echo \'{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"a picture"}]}\''),
    'tools/bin/bytes': script('cat >/dev/null; echo \'{"blob":"AAEC"}\''),
    'tools/bin/failing': script('echo "no paper" >&2; exit 1'),
    'skills/printing/SKILL.md': skill('printing'),
    'skills/printing/references/paper sizes.md': '# A4\n',
    'skills/printing/scripts/deep/run.sh': 'echo run\n',
    'skills/printing/.secret': 'hidden\n',
    'skills/printing/picture.png': '\u0000not text',
    'skills/odd/SKILL.md': '---\nname: Odd Name\n---\nOdd $ARGUMENTS, first $ARGUMENTS[0], third $ARGUMENTS[2].\n',
    'workspace/notes/a b.md': '# Note\n',
    'workspace/top.txt': 'top\n',
    'workspace/big.txt': 'x'.repeat(1_048_577)
  },
  tools,
  manifests: ['skills', 'tools.json'],
  env: { API_KEYS_JSON }
})
await symlink('/etc/passwd', join(dir, 'skills/printing/stolen.md'))

for (const era of eras) {
  t.test(`a client of ${era}`, async t => {
    const { client } = await connect(t, api.address, testKeys.admin, era)

    t.test('sees tools, prompts and resources apart', async t => {
      const { tools } = await client.listTools()
      t.ok(tools.some(({ name }) => name === 'plain'))
      t.notOk(tools.some(({ name }) => name === 'greeting' || name === 'report'))
      const { prompts } = await client.listPrompts()
      t.strictSame(prompts.map(({ name }) => name), ['Odd Name', 'printing', 'greeting', 'picture', 'language', 'failing'])
      t.match(prompts[2], { description: 'A greeting.', arguments: [{ name: 'who', description: 'The who.', required: true }] })
      const { body } = await http.request<{ tools: Array<{ function: { name: string } }> }>('/v1/agent-tools')
      t.notOk(body.tools.some(({ function: { name } }) => name === 'greeting'), 'models see it nowhere')
    })

    t.test('gets a prompt: the text of a skill, the output of a tool, or its content blocks', async t => {
      t.match((await client.getPrompt({ name: 'printing' })).messages, [{ role: 'user', content: { type: 'text', text: 'Use it well.\n' } }])
      t.match((await client.getPrompt({ name: 'greeting', arguments: { who: 'you' } })).messages, [{ role: 'user', content: { type: 'text', text: 'Hello' } }])
      t.match((await client.getPrompt({ name: 'picture' })).messages, [{ content: { type: 'image', data: 'aGk=', mimeType: 'image/png' } }, { content: { type: 'text', text: 'a picture' } }])
    })

    t.test('gives a skill the words that a person put behind its name, in their places or behind its text', async t => {
      const { prompts } = await client.listPrompts()
      const [odd, printing] = prompts
      t.match([odd, printing], [{ arguments: [{ name: 'arguments', required: false }] }, { arguments: [{ name: 'arguments', description: '[paper] [copies]' }] }])
      const text = async (name: string, words?: string): Promise<unknown> => {
        const { messages } = await client.getPrompt({ name, arguments: { ...words !== undefined && { arguments: words } } })
        return messages[0]?.content
      }
      t.match(await text('Odd Name', '12 $& high'), { text: 'Odd 12 $& high, first 12, third high.\n' })
      t.match(await text('Odd Name'), { text: 'Odd , first , third .\n' })
      t.match(await text('Odd Name', ' 12 high'), { text: 'Odd  12 high, first 12, third .\n' }, 'words begin behind the first space')
      t.match(await text('printing', 'A4 2'), { text: 'Use it well.\n\nARGUMENTS: A4 2\n' })
      t.match(await text('printing'), { text: 'Use it well.\n' })
      await t.rejects(text('printing', 'x'.repeat(4_097)), { code: -32602, message: /at most 4096 characters/ })
    })

    t.test('gets the reason when it gets no prompt', async t => {
      await t.rejects(client.getPrompt({ name: 'nothing' }), { code: -32602, message: /Unknown prompt: nothing/ })
      await t.rejects(client.getPrompt({ name: 'plain' }), { code: -32602 })
      await t.rejects(client.getPrompt({ name: 'greeting', arguments: {} }), { code: -32602, message: /who/, data: { code: 'INVALID_ARGUMENTS' } })
      await t.rejects(client.getPrompt({ name: 'failing' }), { code: -32603, message: 'no paper', data: { code: 'TOOL_FAILED', job_id: /^[0-9a-f-]{36}$/ } })
    })

    t.test('gets the values of an argument that its schema lists', async t => {
      const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'language' }, argument: { name: 'code', value: 'D' } })
      t.match(completion, { values: ['de', 'da'], total: 2, hasMore: false })
      t.match((await client.complete({ ref: { type: 'ref/prompt', name: 'nothing' }, argument: { name: 'x', value: '' } })).completion.values, [])
    })

    t.test('lists resources: skills, what tools make, and the top of the workspace', async t => {
      const { resources } = await client.listResources()
      const uris = resources.map(({ uri }) => uri)
      t.match(resources.find(({ uri }) => uri === 'skill://printing/SKILL.md'), { name: 'printing', description: 'Does printing', mimeType: 'text/markdown' })
      t.ok(uris.includes('logo:main') && uris.includes('workspace:///top.txt') && uris.includes('workspace:///notes/'), uris.join())
      t.notOk(uris.some(uri => uri.startsWith('report:') || uri.startsWith('skill://Odd')))
      const { resourceTemplates } = await client.listResourceTemplates()
      t.strictSame(resourceTemplates.map(({ uriTemplate }) => uriTemplate), ['skill://{skill}/{+path}', 'workspace:///{+path}', 'report://{year}/{month}'])
    })

    t.test('reads resources: files of skills and of the workspace, and what tools make', async t => {
      const read = async (uri: string): Promise<unknown> => (await client.readResource({ uri })).contents
      t.strictSame(await read('skill://printing/references/paper%20sizes.md'), [{ uri: 'skill://printing/references/paper%20sizes.md', mimeType: 'text/markdown', text: '# A4\n' }])
      t.match(await read('skill://printing/picture.png'), [{ mimeType: 'image/png', blob: Buffer.from('\u0000not text').toString('base64') }])
      t.match(await read('workspace:///notes/a%20b.md'), [{ mimeType: 'text/markdown', text: '# Note\n' }])
      t.match(await read('workspace:///notes/'), [{ mimeType: 'inode/directory', text: 'workspace:///notes/a%20b.md\n' }])
      t.match(await read('report://2026/of%2Fnow'), [{ mimeType: 'application/json', text: '{"year":"2026","month":"of/now"}' }])
      t.match(await read('logo:main'), [{ mimeType: 'image/png', blob: 'aGk=' }, { mimeType: 'text/plain', text: 'a picture' }])
      t.match(await read('bytes:all'), [{ mimeType: 'application/zip', blob: 'AAEC' }])
    })

    t.test('reads nothing through links, hidden names, parent directories or unknown URIs', async t => {
      const missing = ['skill://printing/stolen.md', 'skill://printing/.secret', 'skill://printing/../odd/SKILL.md', 'skill://printing/%2e%2e/odd/SKILL.md', 'skill://printing/references', 'skill://none/SKILL.md', 'workspace:///none.txt', 'workspace:///none/', 'workspace:///../tools.json', 'workspace:///../', 'workspace:///notes', 'workspace:///top.txt/', 'report://2026', 'other:thing', 'file:///etc/passwd']
      for (const uri of missing) await t.rejects(client.readResource({ uri }), { code: -32602 }, uri)
      await t.rejects(client.readResource({ uri: 'workspace:///big.txt' }), { code: -32602, message: /1048577 bytes.*data_file_read reads it in parts/ })
    })
  })
}

t.test('a key sees and reads only what its tools may', async t => {
  const { client: reader } = await connect(t, api.address, testKeys.read, '2026-07-28')
  const seen = (await reader.listResources()).resources.map(({ uri }) => uri)
  t.ok(seen.includes('skill://printing/SKILL.md'))
  t.notOk(seen.some(uri => uri.startsWith('workspace:')), 'files are read by tools, which a key to read does not run')
  t.match(await reader.readResource({ uri: 'skill://printing/SKILL.md' }), { contents: [{ text: skill('printing') }] })
  await t.rejects(reader.readResource({ uri: 'workspace:///top.txt' }), { message: /admin API key/ })
  await t.rejects(reader.getPrompt({ name: 'greeting', arguments: { who: 'x' } }), { message: /admin API key/ })
  const { client: limited } = await connect(t, api.address, testKeys.limited, '2026-07-28')
  const { resources } = await limited.listResources()
  t.notOk(resources.some(({ uri }) => uri === 'online:all' || uri.startsWith('workspace:')))
  await t.rejects(limited.readResource({ uri: 'online:all' }), { code: -32602 })
  await t.rejects(limited.readResource({ uri: 'workspace:///top.txt' }), { code: -32602 })
})

/** A raw request of 2026: the SDK's client doesn't know the methods of extensions. */
async function ask (method: string, params: object): Promise<{ result?: Record<string, never>, error?: { code: number } }> {
  const { body } = await http.request<{ result?: Record<string, never>, error?: { code: number } }>('/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }
  })
  return body
}

t.test('the Skills extension lists each skill with all of its files and their digests', async t => {
  const { result } = await ask('skills/list', {})
  const [entry] = result?.['skills'] as unknown as Array<{ uri: string, frontmatter: object, resources: Array<{ uri: string, digest: string, size: number }> }>
  t.match(entry, { uri: 'skill://printing/SKILL.md', frontmatter: { name: 'printing', description: 'Does printing', license: 'MIT' } })
  t.strictSame(entry?.resources.map(({ uri }) => uri), ['SKILL.md', 'picture.png', 'references/paper%20sizes.md', 'scripts/deep/run.sh'].map(path => `skill://printing/${path}`))
  const content = await readFile(join(dir, 'skills/printing/SKILL.md'))
  t.match(entry?.resources[0], { digest: `sha256:${createHash('sha256').update(content).digest('hex')}`, size: content.length })
  t.match((await ask('skills/get', { uri: 'skill://printing/SKILL.md' })).result?.['skill'], { uri: 'skill://printing/SKILL.md', resources: entry?.resources })
  t.match(result, { ttlMs: Number, cacheScope: 'private', resultType: 'complete' })
  t.match((await ask('skills/get', { uri: 'skill://none/SKILL.md' })).error, { code: -32602 })
})

t.test('a file of a skill that was changed has another digest in the next list', async t => {
  const digest = async (): Promise<unknown> => {
    const { result } = await ask('skills/get', { uri: 'skill://printing/SKILL.md' })
    const { resources } = result?.['skill'] as unknown as { resources: Array<{ uri: string, digest: string }> }
    return resources.find(({ uri }) => uri.endsWith('/run.sh'))?.digest
  }
  const before = await digest()
  t.equal(await digest(), before)
  await writeFile(join(dir, 'skills/printing/scripts/deep/run.sh'), 'echo ran\n')
  t.equal(await digest(), `sha256:${createHash('sha256').update('echo ran\n').digest('hex')}`)
})

t.test('directories of skills and of the workspace are read level by level', async t => {
  t.match((await ask('resources/directory/read', { uri: 'skill://printing' })).result?.['resources'], [
    { uri: 'skill://printing/SKILL.md' }, { uri: 'skill://printing/picture.png' }, { uri: 'skill://printing/references', mimeType: 'inode/directory' }, { uri: 'skill://printing/scripts', mimeType: 'inode/directory' }
  ])
  t.match((await ask('resources/directory/read', { uri: 'workspace:///notes/' })).result?.['resources'], [{ uri: 'workspace:///notes/a%20b.md', size: 7 }])
  for (const uri of ['skill://printing/SKILL.md', 'workspace:///top.txt', 'workspace:///none/', 'workspace:///../']) {
    t.match((await ask('resources/directory/read', { uri })).error, { code: -32602 }, uri)
  }
})

t.test('a client of 2025 that subscribes to a resource is notified when the manifest changes it', async t => {
  const { client } = await connect(t, api.address, testKeys.admin, '2025-11-25')
  const heard: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => { heard.push(params.uri) })
  client.setNotificationHandler('notifications/prompts/list_changed', () => { heard.push('prompts') })
  await client.subscribeResource({ uri: 'skill://printing/SKILL.md' })
  await t.rejects(client.subscribeResource({ uri: 'workspace:///top.txt' }), { message: /not seen/ })
  await writeFile(join(dir, 'skills/printing/SKILL.md'), skill('printing', 'Use it better.'))
  await waitFor('the watched skill is told', () => heard.includes('skill://printing/SKILL.md'))
  await client.unsubscribeResource({ uri: 'skill://printing/SKILL.md' })
  await writeFile(join(dir, 'skills/printing/SKILL.md'), skill('printing', 'Once more.'))
  await mkdir(join(dir, 'skills/second'))
  await writeFile(join(dir, 'skills/second/SKILL.md'), skill('second'))
  await waitFor('the new prompt is told', () => heard.includes('prompts'))
  t.strictSame(heard.filter(uri => uri.startsWith('skill:')), ['skill://printing/SKILL.md'], 'and no more when it has stopped watching')
})
