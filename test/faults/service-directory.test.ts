import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { boxed } from '../python/fixture.ts'
import { createService } from '../support/service.ts'

const skip = boxed.skip
t.setTimeout(120_000)
const reader = `import os
from toolyard import Tool

def found():
    top = os.path.dirname(__file__)
    paths = [os.path.join(at, name) for at, _, names in os.walk(top) for name in names]
    return sorted(os.path.relpath(path, top) for path in paths if path != __file__ and "the-" + "secret" in open(path, errors="replace").read())

IMPORTED = found()

class Reader(Tool):
    def execute(self):
        return {"imported": IMPORTED, "called": found(), "beside": os.listdir(os.path.dirname(__file__))}
`
const manifest = JSON.stringify({ schema_version: '1.0', metadata: { name: 'tools', description: 'Beside the service' }, tools: [{ name: 'reader', description: 'Reads all it can', module: 'reader', permissions: [] }] })

void t.test('fault 13 Python tools beside the service see nothing of its .env, its audit and its secrets, where the sandbox is required', { skip }, async t => {
  const { client, dir } = await createService(t, {
    files: { 'reader.py': reader, 'manifest.json': manifest, '.env': 'REDACT=the-secret-of-env\n', callback: 'the-secret-of-callbacks' },
    manifests: ['manifest.json'],
    env: { HOME: '/nonexistent', AUDIT_DIR: '.toolyard/audit', CALLBACK_SECRET_FILE: 'callback', SANDBOX: 'require' }
  })
  const read = async (): Promise<{ imported: string[], called: string[], beside: string[] }> => {
    const { results } = await client.batch([{ call_id: '1', name: 'reader' }])
    t.equal(results[0]?.ok, true, JSON.stringify(results[0]?.error))
    return results[0]?.output as { imported: string[], called: string[], beside: string[] }
  }
  const first = await read()
  t.strictSame([first.imported, first.called], [[], []])
  t.ok(['reader.py', 'tools.json'].every(name => first.beside.includes(name)), 'the rest is there')
  for (const name of ['.env', 'callback']) {
    writeFileSync(join(dir, `${name}~new`), 'REDACT=the-secret-again\n')
    renameSync(join(dir, `${name}~new`), join(dir, name))
  }
  const second = await read()
  t.strictSame([second.imported, second.called], [[], []], 'after they were replaced')
})
