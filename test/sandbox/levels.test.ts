import { openSandbox, SandboxError } from '@toolyard/executors'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()
const defaults = { mode: 'auto', env: {}, hidden: [], defaultPermissions: [] } as const

void t.test('fault 18 without bubblewrap, auto runs tools without a sandbox and says so', async t => {
  const tools = await boxedTools(t, { mode: 'auto', env: { PATH: '/no/such/directory' } })
  t.match(tools.sandbox.report, { level: 'none', findings: [{ layer: 'bubblewrap', holds: false }], advice: /^Install bubblewrap/ })
  t.ok(tools.sandbox.report.missing.includes('network'))
  t.equal(outputOf(await tools.shell('echo ran')), 'ran')
})

void t.test('fault 18 without bubblewrap, require refuses to start', async t => {
  await t.rejects(openSandbox({ ...defaults, mode: 'require', workspaceDir: t.testdir() }), SandboxError)
})

void t.test('fault 18 a bubblewrap that the kernel refuses counts as missing', async t => {
  const directory = fakeBubblewrap(t, 'echo "bwrap: No permissions to create new namespace" >&2; exit 1')
  const sandbox = await openSandbox({ ...defaults, env: { PATH: `${directory}:/usr/bin:/bin` }, workspaceDir: directory })
  sandbox.close()
  t.match(sandbox.report, { level: 'none', findings: [{ layer: 'bubblewrap', detail: /No permissions/ }], advice: /^The first is bubblewrap: .*No permissions.*toolyard doctor/ })
})

void t.test('a bubblewrap that isolates nothing is detected, layer by layer', async t => {
  const directory = fakeBubblewrap(t, `echo '{ "child-pid": 0, "x": 0 }' >&3
    while [ "$1" != -- ]; do shift; done; shift
    while [ "$1" != -- ]; do shift; done; shift
    exec 4>&-; "$@" 3>&-; code=$?
    echo "{ \\"exit-code\\": $code }" >&3`)
  const sandbox = await openSandbox({ ...defaults, env: { PATH: `${directory}:/usr/bin:/bin` }, workspaceDir: directory })
  sandbox.close()
  t.equal(sandbox.report.level, 'partial')
  for (const layer of ['files', 'writes', 'processes', 'network', 'sockets', 'system-calls', 'descendants'] as const) {
    t.ok(sandbox.report.missing.includes(layer), layer)
  }
})

void t.test('off is explicit, and needs no bubblewrap', async t => {
  const sandbox = await openSandbox({ ...defaults, mode: 'off', workspaceDir: t.testdir() })
  sandbox.close()
  t.match(sandbox.report, { level: 'none', advice: /SANDBOX=off/ })
})

void t.test('a machine with bubblewrap has the whole sandbox', { skip }, async t => {
  const tools = await boxedTools(t, { mode: 'require' })
  t.match(tools.sandbox.report, { level: 'full', missing: [], advice: '' })
})

void t.test('where unshare is refused, the sandbox says that a box may outlive its worker', { skip }, async t => {
  const directory = t.testdir()
  const file = join(directory, 'unshare')
  writeFileSync(file, '#!/bin/sh\nexit 1\n')
  chmodSync(file, 0o755)
  const tools = await boxedTools(t, { mode: 'auto', env: { ...process.env, PATH: `${directory}:${process.env['PATH']}` } })
  t.match(tools.sandbox.report, { level: 'partial', findings: tools.sandbox.report.findings.map(finding => finding.layer === 'descendants' ? { holds: false, detail: /unshare/ } : {}) })
  t.ok(tools.sandbox.report.missing.includes('descendants'))
})

void t.test('nothing of a sandbox is left when it is closed', { skip }, async t => {
  const workspaceDir = t.testdir()
  const sandbox = await openSandbox({ ...defaults, env: process.env, workspaceDir })
  sandbox.close()
  t.notOk(existsSync(join(workspaceDir, `.toolyard-canary-${process.pid}`)))
})

/** A program called bwrap that has these lines for a body. */
function fakeBubblewrap (t: Test, body: string): string {
  const directory = t.testdir()
  const file = join(directory, 'bwrap')
  writeFileSync(file, `#!/bin/sh\n[ "$1" = --help ] && exit 0\n${body}\n`)
  chmodSync(file, 0o755)
  return directory
}
