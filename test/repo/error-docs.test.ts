import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { callErrors, httpErrors } from '@toolyard/contract'
import t from 'tap'
import { compareErrorDocs } from './error-docs.ts'
import { repoRoot } from './source-tree.ts'

const errors = {
  LOST: { status: 404, retryable: false, meaning: 'It is gone.' },
  BUSY: { status: 503, retryable: true, meaning: 'Later.' }
}
const head = '## Errors\n\n| code | status | retryable | meaning | what to do |\n|---|---|---|---|---|\n'
const lost = '| `LOST` | 404 | no | It is gone. | Look elsewhere. |\n'
const busy = '| `BUSY` | 503 | yes | Later. | Wait. |\n'

t.test('a page that agrees with the code has no differences', async t => {
  t.strictSame(compareErrorDocs(head + lost + busy, 'Errors', errors), [])
})

for (const [row, difference] of [
  ['', 'Errors: BUSY is not documented'],
  [busy + busy, 'Errors: BUSY is documented twice'],
  [busy + '| `NEW` | 400 | no | x | y |\n', 'Errors: NEW is not an error of the code'],
  ['| `BUSY` | 500 | yes | Later. | Wait. |\n', "Errors: BUSY has the status '500', in the code it is '503'"],
  ['| `BUSY` | 503 | no | Later. | Wait. |\n', "Errors: BUSY has the retryable 'no', in the code it is 'yes'"],
  ['| `BUSY` | 503 | yes | Never. | Wait. |\n', "Errors: BUSY has the meaning 'Never.', in the code it is 'Later.'"],
  ['| `BUSY` | 503 | yes | Later. |  |\n', "Errors: BUSY doesn't say what to do"]
] as const) {
  t.test(`the page's fault is found: ${difference}`, async t => {
    t.strictSame(compareErrorDocs(head + lost + row, 'Errors', errors), [difference])
  })
}

t.test('docs/errors.md has every error of the contract, and no other', async t => {
  const page = await readFile(join(repoRoot, 'docs/errors.md'), 'utf8')
  t.strictSame(compareErrorDocs(page, 'Errors that end a request', httpErrors), [])
  t.strictSame(compareErrorDocs(page, "Errors in a call's answer", callErrors), [])
})
