import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const program = fileURLToPath(new URL('../../../apps/cli/bin/toolyard.js', import.meta.url))

function doctor (t: Test, env: Record<string, string>): { status: number | null, output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'doctor'], { cwd: t.testdir(), env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

void t.test('the doctor shows the layers of the sandbox and the manifests, and exits 0 without an error', async t => {
  const { status, output } = doctor(t, {})
  t.match(output, /Sandbox: bubblewrap/)
  t.match(output, /Manifests/)
  t.notMatch(output, /there are no Python tools/, 'each layer is tried')
  t.equal(status, output.includes('ERROR') ? 1 : 0)
})

void t.test('the doctor warns of variables that look like settings, and shows their names without their values', async t => {
  const { output } = doctor(t, { TOOL_MANIFEST: 'a-value', WORKSPACE_ROOT: 'a-value', TOOLYARD_NONSENSE: 'a-value', SANDBOX: 'off' })
  t.match(output, /warning +Settings +TOOL_MANIFEST\b.*TOOL_MANIFESTS/)
  t.match(output, /warning +Settings +WORKSPACE_ROOT\b.*WORKSPACE_DIR/)
  t.match(output, /warning +Settings +TOOLYARD_NONSENSE/)
  t.notMatch(output, 'a-value')
})

void t.test('the doctor exits 1 when Redis does not answer', async t => {
  const { status, output } = doctor(t, { REDIS_URL: 'redis://127.0.0.1:1', SANDBOX: 'off' })
  t.match(output, /ERROR .*Redis .*does not answer/)
  t.match(output, /SANDBOX=off/)
  t.equal(status, 1)
})

void t.test('fault 18 a required sandbox that is missing is an error', async t => {
  const { status, output } = doctor(t, { PATH: '/no/such/directory', SANDBOX: 'require' })
  t.match(output, /ERROR .*Sandbox: bubblewrap .*there is no bwrap/)
  t.equal(status, 1)
})
