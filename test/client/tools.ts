/** Tools that clients are tested with: one that answers at once, one that fails, and one that goes on until a file is there. */
export const clientFiles = {
  'tools/bin/add': `#!/usr/bin/env node
let text = ''
process.stdin.on('data', chunk => { text += chunk })
process.stdin.on('end', () => { const { a, b } = JSON.parse(text); process.stdout.write(JSON.stringify({ sum: a + b })) })
`,
  'tools/bin/echo': `#!/bin/sh
exec cat
`,
  'tools/bin/fail': `#!/bin/sh
echo '{"error": "the well is dry"}' >&2
exit 3
`,
  'tools/bin/long': `#!/usr/bin/env node
process.stdout.write(JSON.stringify({ text: 'x'.repeat(20000) }))
`,
  'tools/bin/wait_for': `#!/usr/bin/env node
const { existsSync, appendFileSync } = require('node:fs')
let text = ''
process.stdin.on('data', chunk => { text += chunk })
process.stdin.on('end', async () => {
  const { file } = JSON.parse(text)
  appendFileSync(file + '.runs', 'x')
  process.stderr.write('began\\n')
  while (!existsSync(file)) await new Promise(resolve => setTimeout(resolve, 20))
  process.stderr.write('saw it\\n')
  process.stdout.write(JSON.stringify({ saw: file }))
})
`
}

const numbers = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'], additionalProperties: false }
const file = { type: 'object', properties: { file: { type: 'string' } }, required: ['file'], additionalProperties: false }

export const clientTools = [
  { name: 'add', description: 'Adds two numbers', schema: numbers, command: ['./tools/bin/add'] },
  { name: 'echo', description: 'Says what it gets', schema: { type: 'object', properties: { id: { type: ['integer', 'string'], maximum: 2 ** 63 } } }, command: ['./tools/bin/echo'] },
  { name: 'fail', description: 'Fails', schema: { type: 'object' }, command: ['./tools/bin/fail'] },
  { name: 'hold', description: 'Is held', schema: { type: 'object' }, command: ['./tools/bin/echo'], approval: 'required' },
  { name: 'long', description: 'Says much', schema: { type: 'object' }, command: ['./tools/bin/long'] },
  { name: 'wait_for', description: 'Waits for a file', schema: file, command: ['./tools/bin/wait_for'], timeoutSec: 120 }
]
