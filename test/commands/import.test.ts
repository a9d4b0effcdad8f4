import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { runToolyard, type Ran } from '../cli/toolyard.ts'

const page = await readFile(join(repoRoot, 'docs/http-entries.md'), 'utf8')
const blocks = (language: string): string[] => [...page.matchAll(/```(\w+)\n(.*?)```/gs)].filter(([, each]) => each === language).map(([, , text = '']) => text)
const document = blocks('yaml')[0] ?? ''

t.test('the commands of docs/http-entries.md do what the page says', async t => {
  const cwd = t.testdir({ 'api.yaml': document })
  const commands = blocks('sh').join('').split('\n').filter(line => line.startsWith('npx toolyard ')).map(line => line.split(' ').slice(2))
  t.equal(commands.length, 4)
  const runs: Ran[] = []
  for (const args of commands) runs.push(await runToolyard(args, { cwd }))
  const [printed, written, asJson, valid] = runs
  t.match(printed, { status: 0, stderr: /1 tool, 1 left out\n - addPhoto takes its body as image\/png.*\nEnvironment variables that the workers need:\n - WEATHER_TOKEN: a token\n$/s })
  t.match(JSON.parse(printed?.stdout ?? ''), { tools: [{ name: 'getWeather', http: { method: 'GET', url: 'https://api.example.com/v1/{city}/weather', headers: { Authorization: { setting: 'WEATHER_TOKEN', prefix: 'Bearer ' } } } }] })
  t.match(written, { status: 0, stdout: '', stderr: /1 tool in weather\.json, 1 left out/ })
  t.match(JSON.parse(asJson?.stdout ?? ''), { ok: true, manifest: { tools: [{ name: 'demo_getWeather', http: { url: 'https://staging.example.com/v1/{city}/weather' } }] }, left_out: [], settings: { DEMO_TOKEN: 'a token' } })
  t.match(valid, { status: 0 }, JSON.stringify(valid))
})

t.test('the entries that the page shows are served', async t => {
  const cwd = t.testdir({ 'api.yaml': document })
  const [described = '', named = ''] = blocks('json')
  await writeFile(join(cwd, 'described.json'), described)
  await writeFile(join(cwd, 'named.json'), `{"tools": [${named}]}`)
  for (const file of ['described.json', 'named.json']) {
    const { status, stdout } = await runToolyard(['tools', '--openai', file], { cwd })
    t.equal(status, 0)
    t.match((JSON.parse(stdout) as unknown[]).find(tool => JSON.stringify(tool).includes('"get_weather"')), { function: { parameters: { properties: { city: {}, units: {} }, required: ['city'] } } }, file)
  }
})

t.test('import says what is wrong with a document, a choice or a file, and overwrites nothing', async t => {
  const cwd = t.testdir({ 'api.yaml': document, 'old.json': '{"swagger": "2.0"}', 'tools.json': 'mine' })
  const imported = async (...args: string[]): Promise<Ran> => await runToolyard(['import', 'openapi', ...args], { cwd, input: document })
  t.match(await imported('old.json'), { status: 1, stderr: 'toolyard import openapi: old.json is of version 2.0, which has another form: convert it to OpenAPI 3 first, for example with npx swagger2openapi\n' })
  t.match(await imported('absent.yaml'), { status: 1, stderr: /absent\.yaml can't be read: ENOENT/ })
  t.match(await imported('api.yaml', '--only', 'getWether'), { status: 1, stderr: /has no operation getWether; is getWeather meant\?/ })
  t.match(await imported('api.yaml', '--tag', 'wether'), { status: 1, stderr: /has no operation with the tag wether; is weather meant\?/ })
  t.match(await imported('https://example.com/api.yaml'), { status: 2, stderr: "from a file or from stdin: curl -sS 'https://example.com/api.yaml' | toolyard import openapi -" })
  t.match(await imported('api.yaml', '--server', 'example.com'), { status: 2 })
  t.match(await imported('api.yaml', '--only', 'addPhoto'), { status: 1, stdout: '', stderr: /0 tools, 1 left out/ })
  t.match(await imported('api.yaml', '--out', 'tools.json'), { status: 1, stderr: /tools\.json is here already/ })
  t.equal(await readFile(join(cwd, 'tools.json'), 'utf8'), 'mine')
  t.match(await imported('-', '--only', 'GET /{city}/weather'), { status: 0, stdout: /"name": "getWeather"/ })
})

/** Operations whose entries have more than `count` times 100,000 bytes, in lists of short lines. */
const largeDocument = (count: number): string => JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Large', version: '1' },
  servers: [{ url: 'https://large.example' }],
  paths: Object.fromEntries(Array.from({ length: count }, (_, at) => [`/things/${at}`, {
    get: { operationId: `get${at}`, tags: [at % 2 === 0 ? 'even' : 'odd'], parameters: [{ name: 'size', in: 'query', schema: { type: 'string', enum: Array.from({ length: 5_000 }, (_, each) => `${at}-size-${each}`) } }] }
  }]))
})

t.test('a document with more than a manifest may have is refused with the way to take parts of it', async t => {
  const cwd = t.testdir({ 'large.json': largeDocument(160) })
  const refused = /large\.json has 160 operations, which are too much for one manifest of 10485760 bytes: .*--tag NAMES --out FILE, or --only NAMES/
  t.match(await runToolyard(['import', 'openapi', 'large.json', '--out', 'tools.json'], { cwd }), { status: 1, stderr: refused })
  t.match(await runToolyard(['add', 'large.json', '--yes'], { cwd }), { status: 1, stderr: /The document has 160 operations, which are too much.*Each can be added/ })
  t.match(await runToolyard(['import', 'openapi', 'large.json', '--tag', 'odd', '--out', 'odd.json'], { cwd }), { status: 0, stderr: /80 tools in odd\.json/ })
  const text = await readFile(join(cwd, 'odd.json'), 'utf8')
  t.notMatch(text.slice(0, 200), /\n/, 'without white space, with which it would be too large')
  t.match(await runToolyard(['validate', 'odd.json'], { cwd }), { status: 0 })
})
