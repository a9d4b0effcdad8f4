import { resolve } from 'node:path'
import t from 'tap'
import { compareSettingsDocs } from './settings-docs.ts'

const variables = {
  PORT: { fallback: 3001 },
  DIR: { fallback: resolve('.toolyard/audit') },
  URL: { fallback: undefined },
  OFF: { fallback: false },
  QUEUES: { fallback: ['*'] },
  REDACT: { fallback: '' }
}
const head = '| variable | default | what |\n|---|---|---|\n'
const rows = [
  '| `PORT` | 3001 | The port. |',
  '| `DIR` | `./.toolyard/audit` | A folder. |',
  '| `URL` | unset: an embedded one | An address. |',
  '| `OFF` | off | A switch. |',
  '| `QUEUES` | `*` | A list. |',
  '| `REDACT` | empty | A text. |'
]

t.test('a settings table that fits the code has no differences', t => {
  t.strictSame(compareSettingsDocs(head + rows.join('\n'), variables), [])
  t.end()
})

for (const [changed, difference] of [
  [rows.slice(1), 'PORT is not documented'],
  [[...rows, '| `PORT` | 3001 | Again. |'], 'PORT is documented twice'],
  [[...rows, '| `NEW` | 1 | New. |'], 'NEW is no setting'],
  [['| `PORT` | 3000 | The port. |', ...rows.slice(1)], "PORT has the default '3000', in the code it is '3001'"],
  [['| `PORT` | 3001 | |', ...rows.slice(1)], "PORT doesn't say what it is"]
] as Array<[string[], string]>) {
  t.test(`the table's fault is found: ${difference}`, t => {
    t.strictSame(compareSettingsDocs(head + changed.join('\n'), variables), [difference])
    t.end()
  })
}

t.test('a README without the table is reported', t => {
  t.strictSame(compareSettingsDocs('# Toolyard', variables), ['there is no table with the columns variable, default, what'])
  t.end()
})
