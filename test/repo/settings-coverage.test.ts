import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { variables } from '@toolyard/runtime'
import t from 'tap'
import { compareSettingsDocs } from './settings-docs.ts'
import { repoRoot } from './source-tree.ts'

t.test('the README has every setting with its default, and no other', async t => {
  t.strictSame(compareSettingsDocs(await readFile(join(repoRoot, 'README.md'), 'utf8'), variables), [])
})
