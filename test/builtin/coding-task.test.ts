import type { CallError } from '@toolyard/contract'
import t from 'tap'
import { createService } from '../support/service.ts'

const project = {
  'workspace/.gitignore': 'node_modules/\n',
  'workspace/node_modules/left/price.mjs': 'export function totalPrice () {}\n',
  'workspace/package.json': '{"name": "shop", "type": "module"}\n',
  'workspace/src/price.mjs': `/** The price of all items in cents. */
export function totalPrice (items) {
  let total = 0
  for (const item of items) total += item.price
  return total
}
`,
  'workspace/src/index.mjs': "export { totalPrice } from './price.mjs'\n",
  'workspace/test/price.test.mjs': `import assert from 'node:assert'
import { test } from 'node:test'
import { totalPrice } from '../src/index.mjs'

test('quantities count', () => {
  assert.equal(totalPrice([{ price: 250, quantity: 2 }, { price: 100, quantity: 1 }]), 600)
})

test('a quantity that is left out is one', () => {
  assert.equal(totalPrice([{ price: 250 }]), 250)
})
`
}

const service = await createService(t, { files: project, env: { TOOL_EXEC_ENABLED: 'yes', TOOL_EXEC_ALLOWLIST: 'node', WORKSPACE_DELETE_ENABLED: 'no', LOG_LEVEL: 'warn' } })
const { client } = service

async function succeed (name: string, args: object): Promise<Record<string, unknown>> {
  const result = await client.call(name, args, { wait_ms: 60_000 })
  if (!result.ok) throw new Error(`${name} failed: ${JSON.stringify(result.error)}`)
  return result.output as Record<string, unknown>
}

async function runTests (): Promise<{ passed: true } | { passed: false, error: CallError }> {
  const result = await client.call('tool_exec', { command: 'node', args: ['--test', 'test/price.test.mjs'] }, { wait_ms: 60_000 })
  return result.ok ? { passed: true } : { passed: false, error: result.error as CallError }
}

t.test('a coding task is done with the built-in tools alone: find, read, test, edit, read the failure, fix', async t => {
  const { matches } = await succeed('tools_find_in_files', { query: 'function totalPrice', case_sensitive: true, context_lines: 1 }) as { matches: Array<{ path: string, line: number }> }
  t.match(matches, [{ path: 'src/price.mjs', line: 2 }], 'the function is found, and not the ignored copy')
  t.equal(matches.length, 1)
  const { results } = await succeed('tools_file_search', { query: 'test', glob: '*.mjs' }) as { results: unknown[] }
  t.same(results, [{ path: 'test/price.test.mjs', type: 'file' }])
  const { content_text: source } = await succeed('data_file_read', { path: 'src/price.mjs', start_line: 2, max_lines: 5 })
  t.match(source, 'total += item.price\n')

  const first = await runTests()
  if (first.passed) throw new Error('the tests should fail at first')
  t.match(first.error, { code: 'TOOL_FAILED', message: 'tool.exec failed with exit 1' })
  t.match(JSON.stringify(first.error.details), /quantities count.*350 [!=]=+ 600/s)

  const edit = { path: 'src/price.mjs', mode: 'edit', old_text: 'total += item.price\n', new_text: 'total += item.price * item.quantity\n' }
  const preview = await succeed('data_write_file', { ...edit, dry_run: true })
  t.match(preview['diff'], '+  for (const item of items) total += item.price * item.quantity')
  const { sha256 } = await succeed('workspace_stat', { path: 'src/price.mjs' })
  await succeed('data_write_file', { ...edit, expected_sha256: sha256 })

  const second = await runTests()
  if (second.passed) throw new Error('one test should still fail')
  t.match(JSON.stringify(second.error.details), /NaN [!=]=+ 250/)

  const patch = '--- a/src/price.mjs\n+++ b/src/price.mjs\n@@ -3,3 +3,3 @@\n   let total = 0\n-  for (const item of items) total += item.price * item.quantity\n+  for (const { price, quantity = 1 } of items) total += price * quantity\n   return total\n'
  await succeed('data_write_file', { path: 'src/price.mjs', mode: 'apply_patch', patch })
  t.same(await runTests(), { passed: true })
})

t.test('B30 R47 a program that is not allowed is refused, and nothing outside the workspace is written', async t => {
  t.match(await client.call('tool_exec', { command: 'sh', args: ['-c', 'true'] }), { ok: false, error: { code: 'NOT_ALLOWED', message: 'command not allowed: sh' } })
  t.match(await client.call('data_write_file', { path: '../evil', content: 'x', create_if_missing: true }), { ok: false, error: { message: 'path escapes workspace root' } })
  t.match(await client.call('data_write_file', { path: 'x', mode: 'no-such-mode', content: '' }), { ok: false, error: { code: 'INVALID_ARGUMENTS' } })
})
