import t from 'tap'
import { python } from '../python/fixture.ts'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'

t.setTimeout(120_000)
/** Sets the title, clears the screen, and the same with the one character that begins such a sequence in eight bits. */
const hostile = 'x\u001b]0;title\u0007\u001b[2J\u009b2J\r\u007f\u202ey'
const quoted = JSON.stringify(hostile)
// eslint-disable-next-line no-control-regex -- control characters and marks of direction, which a terminal would obey
const commands = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/

const prelude = 'import os, sys\nfrom toolyard import Tool\n'
const says = (stream: string): string => `os.write(${stream}, ${quoted}.encode() + b"\\n")`
/** A sentence of each, wherever it could come to the log. */
const modules = {
  noisy: `${prelude}${says('1')}\n${says('2')}\nclass Noisy(Tool):\n    def execute(self):\n        ${says('2')}\n        print(${quoted})\n        raise RuntimeError(${quoted})\n`,
  raises: `${prelude}${says('2')}\nraise RuntimeError(${quoted})\nclass Raises(Tool):\n    def execute(self):\n        return None\n`,
  unmade: `${prelude}class Unmade(Tool):\n    def __init__(self, *given):\n        raise RuntimeError(${quoted})\n    def execute(self):\n        return None\n`
}

void t.test('no control character of a tool, its name, its output or its exceptions gets into a log of the service unescaped', async t => {
  const entry = (name: string): object => ({ name, description: hostile, module: name, permissions: [] })
  const service = await createService(t, {
    tools: [
      { name: `bad ${hostile}`, description: hostile, command: ['/bin/true'] },
      { name: 'missing', description: hostile, command: [`/missing/${hostile}`] },
      { name: 'loud', description: hostile, command: ['./tools/bin/loud'] }
    ],
    files: {
      'tools/bin/loud': `#!/bin/sh\nprintf '%b' '${[...Buffer.from(hostile)].map(byte => `\\0${byte.toString(8)}`).join('')}\\n' | tee /dev/stderr\nexit 1\n`,
      ...Object.fromEntries(Object.entries(modules).map(([name, text]) => [`code/${name}.py`, text])),
      'code/manifest.json': JSON.stringify({ schema_version: '1.0', metadata: { name: 'python', description: hostile }, tools: Object.keys(modules).map(entry) })
    },
    manifests: ['tools.json', ...python.skip === false ? ['code/manifest.json'] : []],
    env: { LOG_LEVEL: 'trace' }
  })
  const [worker] = service.workers
  if (worker === undefined) throw new Error('no worker')
  if (python.skip === false) await waitFor('the worker has tried the modules', async () => /cannot be constructed/.test(await worker.output()))
  const { results } = await service.client.batch(['loud', 'missing', `bad ${hostile}`, hostile, ...Object.keys(modules)].map((name, at) => ({ call_id: String(at), name })))
  t.match(results[0], { ok: false, error: { message: hostile.trim() } }, 'the caller has the text as it is')
  await waitFor('the calls are in the log', async () => /job failed/.test(await worker.output()))
  for (const app of [service.api, worker]) {
    const output = await app.output()
    t.not(output, '')
    t.notMatch(output.replaceAll('\n', ''), commands)
  }
  t.match(await worker.output(), '0;title', 'it is told all the same')
})
