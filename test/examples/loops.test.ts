import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { withoutPython } from '../other-clients/python.ts'
import { clientFiles, clientTools } from '../client/tools.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { startModelServer, type ModelServer } from './model-server.ts'
import { sums } from './script.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const service = await createService(t, {
  tools: [...clientTools, { name: 'count', description: 'Counts', schema: { type: 'object' }, command: ['./tools/bin/count'] }],
  files: { ...clientFiles, 'tools/bin/count': '#!/bin/sh\necho \'{"count":725653563933458432}\'\n' }
})
const url = service.api.address

const examples = ['openai-chat.mjs', 'openai-responses.mjs', 'anthropic.mjs', 'ai-sdk.mjs', 'langchain.mjs', 'standard_library.py']

/** Runs an example, and gives what it printed. */
async function run (example: string, model: ModelServer): Promise<string> {
  const { stdout } = await promisify(execFile)(example.endsWith('.py') ? 'python3' : process.execPath, [join(root, 'examples', example), 'Add some numbers.'], {
    env: {
      PATH: process.env['PATH'],
      PYTHONPATH: join(root, 'clients/python'),
      PYTHONDONTWRITEBYTECODE: '1',
      TOOLYARD_URL: url,
      TOOLYARD_API_KEY: testKeys.admin,
      OPENAI_BASE_URL: `${model.address}/v1`,
      OPENAI_API_KEY: 'none',
      ANTHROPIC_BASE_URL: model.address,
      ANTHROPIC_API_KEY: 'none'
    }
  })
  return stdout.trim()
}

t.test('the loops of all examples finish, though the service is killed and started again while their calls run', { skip: withoutPython }, async t => {
  const loops = await Promise.all(examples.map(async example => {
    const file = join(service.dir, 'workspace', example)
    const model = await startModelServer(t, sums(file))
    return { example, file, model, running: run(example, model).catch((error: unknown) => String(error)) }
  }))
  for (const { example, file } of loops) await waitFor(`a tool of ${example} runs`, () => existsSync(`${file}.runs`), 60_000)
  await service.api.stop('SIGKILL')
  // Workers end what they run.
  const stopped = service.workers[0]?.stop('SIGTERM')
  for (const { file } of loops) await writeFile(file, '')
  await stopped
  await Promise.all([service.startApi({ PORT: new URL(url).port }), service.startWorker()])
  for (const { example, file, model, running } of loops) {
    t.equal(await running, 'The file is there, the sum is 35, and the well is dry.', example)
    t.strictSame(model.faults, [], 'one answer for each call')
    t.equal(await readFile(`${file}.runs`, 'utf8'), 'x', 'the tool ran once')
  }
})

t.test('at most five lines of each example concern Toolyard', async t => {
  for (const example of [...examples, 'openai_chat.py']) {
    const text = (await readFile(join(root, 'examples', example), 'utf8')).replace(/^\/\*\*.*|^"""[^]*?"""/, '')
    const lines = text.split('\n').filter(line => /toolyard/i.test(line))
    t.ok(lines.length > 1 && lines.length <= 5, `${example}: ${lines.length}`)
  }
})
