import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { createService } from '../support/service.ts'
import { conformanceFiles, conformanceManifests, conformanceTools } from './conformance-tools.ts'
import { newerNode } from './newer-node.ts'

const run = promisify(execFile)
const suite = 'node_modules/@modelcontextprotocol/conformance/dist/index.js'
/** Lets the suite wait for tools on a busy machine. */
const patience = new URL('patient-suite.js', import.meta.url).href
/** Cases that may fail, each with its reason. The suite fails as well when one of them passes. */
const expected = 'test/mcp/conformance-expected.yml'

/** The first has the scenarios of tasks as well, and reports them without counting them. */
const runs: ReadonlyArray<readonly string[]> = [
  ['--requirements', '2026-07-28'],
  ['--spec-version', '2025-11-25'],
  ['--spec-version', '2025-06-18'],
  ['--scenario', 'sep-2640-skills-enumeration'],
  ['--scenario', 'sep-2640-skills-directory']
]
const expectedNames = (parse(await readFile(expected, 'utf8')) as { server: string[] }).server

const node = newerNode()
if (node === undefined) {
  t.plan(0, 'the conformance suite needs Node.js 22, which could not be installed')
} else {
  // Without a key, as the suite has none to send.
  const { api } = await createService(
    t,
    {
      files: conformanceFiles, tools: conformanceTools, manifests: conformanceManifests, env: { API_AUTH_DISABLED: '1', API_KEYS_JSON: '' }
    }
  )
  const results = await mkdtemp(join(tmpdir(), 'toolyard-conformance-'))
  t.teardown(() => rm(results, { recursive: true, force: true }))

  // One after the other, as what the suite measures is not how many run at once.
  for (const [index, which] of runs.entries()) {
    await t.test(`the conformance suite of MCP passes, except for known differences: ${which.join(' ')}`, async t => {
      const { stdout, code } = await run(
        node,
        [
          '--import',
          patience,
          suite,
          'server',
          '--timeout',
          '300000',
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
      t.match(stdout, /Total: \d+ passed|Passed: (\d+)\/\1, 0 failed/)
      for (const [, mark, name = ''] of stdout.matchAll(/^([✓✗]) ((?:tasks|http|json)-\S+): /gm)) {
        t.equal(mark === '✗', expectedNames.includes(name), `${name} ${mark === '✗' ? 'fails' : 'passes'}`)
      }
      t.equal(code, 0, code === 0 ? 'as expected' : stdout.slice(stdout.indexOf('=== SUMMARY')))
    })
  }
}
