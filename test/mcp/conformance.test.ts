import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { startService } from '../support/service.ts'
import { conformanceFiles, conformanceManifests, conformanceTools } from './conformance-tools.ts'
import { newerNode } from './newer-node.ts'

const run = promisify(execFile)
const suite = 'node_modules/@modelcontextprotocol/conformance/dist/index.js'
/** What may fail, each with its reason. The suite fails as well when something in it passes. */
const expected = 'test/mcp/conformance-expected.yml'

/** What is run: the scenarios of a revision, or one that belongs to none by its name. */
const runs: ReadonlyArray<readonly string[]> = [
  ['--requirements', '2026-07-28'],
  ['--spec-version', '2025-11-25'],
  ['--spec-version', '2025-06-18'],
  ...[
    'lifecycle',
    'capability-negotiation',
    'wire-fields',
    'request-state-removal',
    'mrtr-input',
    'request-headers',
    'dispatch-and-envelope',
    'status-notifications',
    'required-task-error',
    'mrtr-composition'
  ]
    .map(name => ['--scenario', `tasks-${name}`])
]

const node = newerNode()
if (node === undefined) {
  t.plan(0, 'the conformance suite needs Node.js 22, which could not be installed')
} else {
  // Without a key, as the suite has none to send.
  const { api } = await startService(
    t,
    {
      files: conformanceFiles, tools: conformanceTools, manifests: conformanceManifests, env: { API_AUTH_DISABLED: '1', API_KEYS_JSON: '' }
    }
  )
  const results = await mkdtemp(join(tmpdir(), 'toolyard-conformance-'))
  t.teardown(() => rm(results, { recursive: true, force: true }))

  await Promise.all(runs.map(async (which, index) => {
    await t.test(`the conformance suite of MCP passes but for what is expected: ${which.join(' ')}`, async t => {
      const { stdout, code } = await run(
        node,
        [
          suite,
          'server',
          '--url',
          `${api.address}/mcp`,
          ...which,
          '--expected-failures',
          expected,
          '--output-dir',
          join(results, String(index))
        ]
      )
        .then(({ stdout }) => ({ stdout, code: 0 }), ({ stdout, code }: { stdout: string, code: number }) => ({ stdout, code }))
      t.match(stdout, /Total: \d+ passed/)
      t.equal(code, 0, code === 0 ? 'as expected' : stdout.slice(stdout.indexOf('=== SUMMARY')))
    })
  }))
}
