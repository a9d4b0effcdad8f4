/** Programs and manifest entries that the end-to-end tests share. */
const node = (body: string): string => `#!/usr/bin/env node
let text = ''
process.stdin.on('data', chunk => { text += chunk })
process.stdin.on('end', () => { const args = JSON.parse(text || '{}'); ${body} })
`

export const programs: Record<string, string> = {
  'tools/bin/echo': node('process.stdout.write(JSON.stringify(args))'),
  'tools/bin/value': node('process.stdout.write(args.text ?? JSON.stringify(args.value))'),
  'tools/bin/fail': node('process.stderr.write(args.stderr ?? ""); process.exit(args.code ?? 1)'),
  'tools/bin/nap': node('if (args.mark) require("node:fs").writeFileSync(args.mark, ""); setTimeout(() => process.stdout.write(JSON.stringify({ slept: args.ms })), args.ms)'),
  'tools/bin/big': node('process.stdout.write(JSON.stringify(args.char.repeat(args.count)))')
}

const anything = { type: 'object' }

/** Their entries in an agentcli manifest. */
export const entries = [
  { name: 'echo', description: 'Gives its arguments back', schema: anything, command: ['./tools/bin/echo'] },
  {
    name: 'echo_strict',
    schema: { type: 'object', properties: { word: { type: 'string', minLength: 2 }, times: { type: 'integer', default: 1 } }, required: ['word'], additionalProperties: false },
    command: ['./tools/bin/echo']
  },
  { name: 'value', schema: anything, command: ['./tools/bin/value'] },
  { name: 'fail', schema: anything, command: ['./tools/bin/fail'] },
  { name: 'nap', schema: anything, command: ['./tools/bin/nap'], timeoutSec: 20 },
  { name: 'big', schema: anything, command: ['./tools/bin/big'] },
  { name: 'absent', schema: anything, command: ['./tools/bin/absent'] },
  { name: 'off', schema: anything, command: ['./tools/bin/echo'], enabled: false }
]
