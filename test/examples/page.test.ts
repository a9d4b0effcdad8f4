import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { snippetsOf } from '../support/page-commands.ts'

/** Shown by a link alone: it can't be run here. */
const linked = 'openai_chat.py'
const examples = readdirSync(join(repoRoot, 'examples')).filter(name => /\.(?:mjs|py)$/.test(name) && name !== linked)

/** The program of an example, without the comment that it begins with. */
function program (example: string): string {
  return readFileSync(join(repoRoot, 'examples', example), 'utf8').replace(/^(?:\/\*\*[^]*?\*\/|"""[^]*?""")\n+/, '')
}

t.test('docs/loops.md shows the examples as they are, and all of them', async t => {
  const shown = snippetsOf('docs/loops.md').filter(({ language }) => language !== 'sh').map(({ text }) => text)
  for (const example of examples) t.ok(shown.includes(program(example)), `examples/${example} is shown as it is`)
  t.equal(shown.length, examples.length, 'nothing else is shown')
})
