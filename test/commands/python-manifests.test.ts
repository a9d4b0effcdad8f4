import { fileURLToPath } from 'node:url'
import t from 'tap'
import { hasPython } from '../support/python.ts'
import { runToolyard, type Ran } from '../cli/toolyard.ts'

const toolyard = async (cwd: string, args: string[], env = {}): Promise<Ran> => await runToolyard(args, { cwd, env })

t.test('P20 validate compares inputs with the signature of execute', { skip: hasPython() ? false : 'python3 is not installed' }, async t => {
  const modules: Record<string, [signature: string, inputs: object, before?: string]> = {
    sound: ['self, path, depth=1', { path: { type: 'string', required: true }, depth: { type: 'integer' } }],
    needs: ['self, path, depth', { path: { type: 'string' }, depth: { type: 'integer', default: 1 } }],
    any: ['self, **given', { path: { type: 'string' } }],
    fewer: ['self', { path: { type: 'string' } }],
    wrapped: ['self, path', { path: { type: 'string' } }, '    @__import__("functools").cache\n'],
    odd: ['self', {}, '    @property\n']
  }
  const entries = Object.entries(modules)
  const dir = t.testdir({
    mods: {
      'given.py': 'from toolyard import Tool\n\n\nclass Given(Tool):\n    def __init__(self, *rest):\n        super().__init__(*rest)\n        self.execute = lambda **values: values\n',
      'lazy.py': 'from toolyard import Tool\n\n\nclass Lazy(Tool):\n    def run(self):\n        return 1\n',
      ...Object.fromEntries(entries.map(([name, [signature, , before = '']]) => [`${name}.py`, `from toolyard import Tool\n\n\nclass Probe(Tool):\n${before}    def execute(${signature}):\n        raise RuntimeError("executed")\n`]))
    },
    'm.json': JSON.stringify({ schema_version: '1.0', metadata: { name: 'a', description: 'b' }, tools: [...entries, ['lazy', ['', {}]] as const, ['given', ['', {}]] as const].map(([name, [, inputs]]) => ({ name: `tool_${name}`, description: 'Does a thing', module: `mods.${name}`, inputs })) })
  })
  const { status, stdout } = await toolyard(dir, ['validate', '--json', 'm.json'])
  t.equal(status, 0)
  const { findings } = JSON.parse(stdout) as { findings: Array<{ rule: string, severity: string, message: string, fix: string }> }
  t.strictSame(findings.map(({ severity, rule, message }) => `${severity} ${rule} ${message}`), [
    'warning P20 tools[1].inputs.path is not required, but execute takes it without a default: a call without it fails',
    'warning P20 tools[3].inputs.path is not taken by execute: a call with it fails',
    'warning P20 tools[4].inputs.path is not required, but execute takes it without a default: a call without it fails',
    'warning PC15 tools[6] has a class without a method execute: every call fails'
  ])
  t.equal(findings[0]?.fix, 'Write required: true, or give the parameter of execute a default.')
  t.equal((await toolyard(dir, ['validate', '--strict', 'm.json'])).status, 1)
})

t.test('the bundled samples pass validate --strict, without a note', { skip: hasPython() ? false : 'python3 is not installed' }, async t => {
  const samples = fileURLToPath(new URL('../../../samples/', import.meta.url))
  const { status, stdout } = await toolyard(samples, ['validate', '--strict', 'tools.json', 'tool_manifest.json', 'skills'])
  t.equal(stdout, 'Validated 3 manifest file(s) with no issues.\n')
  t.equal(status, 0)
})
