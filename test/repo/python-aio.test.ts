import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { repoRoot } from './source-tree.ts'

const { aioFiles } = await import(pathToFileURL(join(repoRoot, 'scripts/python-aio.mjs')).href) as { aioFiles: () => Array<{ file: string, text: string }> }

t.test('the asyncio half of the Python client is made of the other one: node scripts/python-aio.mjs', async t => {
  for (const { file, text } of aioFiles()) t.equal(readFileSync(file, 'utf8'), text, file)
})
