import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { startModelServer } from '../examples/model-server.ts'
import { createService, testKeys } from '../support/service.ts'
import { withoutPython } from './python.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
/** Where the packages of the examples are found. */
const dir = join(root, 'examples/node_modules/.snippets')
const service = await createService(t, { env: { SECRETS_KEY: 'ab'.repeat(32) } })
const model = await startModelServer(t, ([answer]) => answer === undefined
  ? { calls: [{ id: 'call_a', name: 'data_file_read', args: { path: 'README.md' } }] }
  : { text: answer.includes('A workspace') ? 'A title is in it.' : answer })
await mkdir(dir, { recursive: true })
t.teardown(() => rm(dir, { recursive: true }))

/** The output of each snippet of docs/clients.md, in order. */
const printed = [
  /^A title is in it\.$/m, /# A workspace/, /# A workspace/, /(?:# A workspace.*){3}/s, /succeeded[^]*# A workspace[^]*^1 \d$/m, /succeeded[^]*# A workspace[^]*^[12] \d$/m, /remember the milk[^]*^1 remember the milk$[^]*files: 1/m,
  /remember the milk[^]*^1 remember the milk$[^]*'files': 1/m,
  /'github', 'tenant', null/, /\('github', None\)/
]

t.test('every snippet of docs/clients.md runs as it is', { skip: withoutPython }, async t => {
  const page = await readFile(join(root, 'docs/clients.md'), 'utf8')
  const snippets = [...page.matchAll(/^```(js|python)\n([^]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }))
  t.equal(snippets.length, printed.length)
  for (const [index, { language, text }] of snippets.entries()) {
    const file = join(dir, `${index}.${language === 'js' ? 'mjs' : 'py'}`)
    await writeFile(file, text)
    const { stdout } = await promisify(execFile)(language === 'js' ? process.execPath : 'python3', [file], {
      env: {
        PATH: process.env['PATH'],
        PYTHONPATH: join(root, 'clients/python'),
        PYTHONDONTWRITEBYTECODE: '1',
        TOOLYARD_URL: service.api.address,
        TOOLYARD_API_KEY: testKeys.admin,
        OPENAI_BASE_URL: `${model.address}/v1`,
        OPENAI_API_KEY: 'none'
      }
    })
    t.match(stdout, printed[index], text)
  }
  t.strictSame(model.faults, [])
})
