import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const program = fileURLToPath(new URL('../../../apps/cli/bin/toolyard.js', import.meta.url))
const good = { tools: [{ name: 'lister', description: 'Lists the files of a folder', schema: { type: 'object', properties: {}, required: [], additionalProperties: false }, command: ['/bin/ls'] }] }

function toolyard (cwd: string, args: string[], env: Record<string, string> = {}): { status: number | null, stdout: string, stderr: string } {
  return spawnSync(process.execPath, [program, ...args], { cwd, env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' })
}

function project (t: Test): string {
  return t.testdir({
    'good.json': JSON.stringify(good),
    'bad.json': '{\n  "tools": [\n    {"name": "x", "command": ["echo"]}\n  ]\n}\n',
    'unversioned.json': JSON.stringify({ metadata: { name: 'a', description: 'b' }, tools: [{ name: 'x', description: 'Does a thing', module: 'm' }] }),
    'm.py': '',
    'off.json': JSON.stringify({ tools: [{ name: 'lister', enabled: false }] })
  })
}

t.test('P32, PC1 validate says so when nothing is wrong, and exits with 0', async t => {
  const { status, stdout } = toolyard(project(t), ['validate', 'good.json'])
  t.equal(stdout, 'Validated 1 manifest file(s) with no issues.\n')
  t.equal(status, 0)
})

t.test('PC1, PC6 validate prints the findings of all manifests with position, rule and remedy, and exits with 1', async t => {
  const { status, stdout } = toolyard(project(t), ['validate', 'bad.json', 'missing.json'])
  t.equal(status, 1)
  t.match(stdout, /^Validation failed:\n/)
  t.match(stdout, /bad\.json:3:\d+ :: tool\[0\] "x": relative command\[0\] must start with \.\/tools\/bin\/\n {5}error A34; /)
  t.match(stdout, /missing\.json :: read manifest: /)
})

t.test('X15 a missing schema_version is an error to validate', async t => {
  const { status, stdout } = toolyard(project(t), ['validate', 'unversioned.json'])
  t.equal(status, 1)
  t.match(stdout, "schema_version must be '1.0'")
})

t.test('validate --json prints the findings as data', async t => {
  const { status, stdout } = toolyard(project(t), ['validate', '--json', 'bad.json'])
  t.equal(status, 1)
  t.match(JSON.parse(stdout), { ok: false, findings: [{ severity: 'error', rule: 'A34', index: 0, tool: 'x', line: 3 }] })
})

t.test('validate --strict makes errors of warnings', async t => {
  const dir = t.testdir({ 'terse.json': '{"tools": [{"name": "x", "command": ["/bin/ls"]}]}' })
  t.equal(toolyard(dir, ['validate', 'terse.json']).status, 0)
  t.equal(toolyard(dir, ['validate', '--strict', 'terse.json']).status, 1)
})

t.test('validate without a path is a misuse', async t => {
  t.equal(toolyard(t.testdir({}), ['validate']).status, 2)
})

t.test('AC25 tools lists what would be published, by name', async t => {
  const { status, stdout } = toolyard(project(t), ['tools'], { TOOL_MANIFESTS: 'good.json' })
  t.equal(status, 0)
  t.match(stdout, /^Capabilities \(enabled tools\):\n- data_file_read: /)
  t.match(stdout, '- lister: Lists the files of a folder\n')
})

t.test('A28 tools --openai prints the specs', async t => {
  const specs = JSON.parse(toolyard(project(t), ['tools', '--openai'], { TOOL_MANIFESTS: 'good.json' }).stdout) as Array<{ function: { name: string } }>
  t.ok(specs.some(spec => spec.function.name === 'lister'))
})

t.test('P25, P27 tools --explain tells the layers of a tool', async t => {
  const { status, stdout } = toolyard(project(t), ['tools', '--explain', 'lister'], { TOOL_MANIFESTS: 'good.json,off.json' })
  t.equal(status, 0)
  t.match(stdout, /^lister is disabled\n/)
  t.match(stdout, /layer 0: declared by .*good\.json[\s\S]*layer 1: switched off by .*off\.json/)
  t.equal(toolyard(project(t), ['tools', '--explain', 'nobody']).status, 1)
})
