import { openSandbox, SandboxError, type Sandbox, type SandboxOptions } from '@toolyard/executors'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { boxedTools, withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()
const realBubblewrap = spawnSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).stdout.trim()

function temporaryDirectory (t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-canaries-'))
  t.teardown(() => { rmSync(directory, { recursive: true, force: true }) })
  return directory
}

/** An environment with a bubblewrap whose arguments go through a line of Python first, where it makes a network or a box in one. */
function alteredEnvironment (t: Test, change: string): NodeJS.ProcessEnv {
  const directory = temporaryDirectory(t)
  const file = join(directory, 'bwrap')
  const text = ['#!/usr/bin/python3 -I', 'import os, sys', 'args = sys.argv[1:]', `if "CAP_NET_ADMIN" in args: ${change}`, `os.execv(${JSON.stringify(realBubblewrap)}, ["bwrap", *args])`, '']
  writeFileSync(file, text.join('\n'))
  chmodSync(file, 0o755)
  return { ...process.env, PATH: `${directory}:${process.env['PATH']}` }
}

async function opened (t: Test, options: Partial<SandboxOptions>): Promise<Sandbox> {
  const sandbox = await openSandbox({ mode: 'auto', env: process.env, workspaceDir: temporaryDirectory(t), hidden: [], defaultPermissions: [], networks: true, ...options })
  sandbox.close()
  return sandbox
}

/** The second network, which is the canary's, is the machine's own. */
function sharing (t: Test): string {
  const first = JSON.stringify(join(temporaryDirectory(t), 'first'))
  return `os.path.exists(${first}) and args.remove("--unshare-net"); open(${first}, "w")`
}

/** Where something of the machine has the ports of the proxy, the canary's network can't be made at all. */
const gap = /reached a TCP port of the machine, |nothing can listen/

void t.test('fault 18 the canary of a network reaches nothing but the host of its list', { skip }, async t => {
  const { report } = await opened(t, {})
  t.match(report.findings.find(({ layer }) => layer === 'egress'), { holds: true, detail: 'holds' })
  t.equal(report.level, 'full')
})

void t.test('fault 18 the canary of a network that is the machine\'s own finds what it reaches, and require refuses to start', { skip }, async t => {
  const env = alteredEnvironment(t, sharing(t))
  const { report } = await opened(t, { env })
  t.match(report, { level: 'partial', missing: ['egress'] })
  const { detail = '' } = report.findings.find(({ layer }) => layer === 'egress') ?? {}
  t.match(detail, gap)
  await t.rejects(opened(t, { env, mode: 'require' }), SandboxError)
})

void t.test('fault 18 where a network can\'t be made, auto runs other tools, and calls of tools with a list say why they don\'t run', { skip }, async t => {
  const tools = await boxedTools(t, { mode: 'auto', env: alteredEnvironment(t, 'sys.exit(1)') })
  t.match(await tools.shell('echo ran'), { ok: true })
  t.match(await tools.shell('echo ran', { network: ['api.test'] }), { ok: false, error: { code: 'SANDBOX_FAILED', message: /the network of the tool could not be made/ } })
})

void t.test('fault 18 a tool that comes with a list after the start is proved by its first call', { skip }, async t => {
  const tools = await boxedTools(t, { mode: 'auto', env: alteredEnvironment(t, sharing(t)) })
  t.match(tools.sandbox.report, { findings: tools.sandbox.report.findings.map(({ layer }) => layer === 'egress' ? { holds: true, detail: /no tools/ } : {}) })
  t.match(await tools.shell('echo ran', { network: ['api.test'] }), { ok: false, error: { code: 'SANDBOX_FAILED', message: gap } })
})
