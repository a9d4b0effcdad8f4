import t from 'tap'
import type { Test } from 'tap'
import { errors, names } from './fixture.ts'
import { descriptor, loadTools, soundTool, told } from './project.ts'

/** Messages about one entry, without `tools[0].`; a sound sibling must be served all the same. */
async function faults (t: Test, fields: Record<string, unknown>): Promise<string[]> {
  const registry = await loadTools(t, descriptor(fields), descriptor({ name: 'sibling' }))
  t.strictSame(names(registry), ['sibling'], `${JSON.stringify(fields)}: the entry is skipped alone`)
  return errors(registry).map(({ message }) => message.replace('tools[0].', ''))
}

t.test('P13 P28 PC4 B10 names are lower case letters, digits, _ and -', async t => {
  for (const name of ['git_status', 'a', '0-_', 'x'.repeat(64)]) t.equal((await soundTool(t, { name })).name, name)
  for (const name of [undefined, null, '', 'Git', 'a b', 'a.b', 'ä', 'a\n', '\na', 7]) {
    t.strictSame(await faults(t, { name }), ['name must match ^[a-z0-9_-]+$'], JSON.stringify(name))
  }
})

t.test('X12 a name that is too long for models is served, and not published', async t => {
  const registry = await loadTools(t, descriptor({ name: 'x'.repeat(65) }))
  t.match(registry.findings, [{ severity: 'warning', rule: 'X12' }])
  t.strictSame([registry.all().length, registry.published().length], [1, 0])
})

t.test('P13 PC4 PC11 the second entry of a name is refused', async t => {
  const registry = await loadTools(t, descriptor({ description: 'The first.' }), descriptor(), { name: 'probe', enabled: false })
  t.strictSame(told(registry), Array(2).fill('error P13 Duplicate tool name detected: probe'))
  t.match(registry.get('probe')?.tool, { description: 'The first.', enabled: true })
})

t.test('P14 P15 PC4 a description and a module are required', async t => {
  for (const field of ['description', 'module']) {
    for (const value of [undefined, null, '', ' \n', 7, []]) t.strictSame(await faults(t, { [field]: value }), [`${field} must be a non-empty string`])
  }
})

t.test('P18 P19 PC4 permissions are a list of texts; an entry that says nothing leaves them to the deployment', async t => {
  t.equal((await soundTool(t, {})).permissions, undefined)
  t.strictSame((await soundTool(t, { permissions: [] })).permissions, [])
  t.strictSame((await soundTool(t, { permissions: ['network', 'read_repo', 'network'] })).permissions, ['read_repo', 'network'])
  for (const permissions of [null, 'network', [1], {}]) t.strictSame(await faults(t, { permissions }), ['permissions must be a list of strings'])
})

t.test('P18 an unknown permission is not held, with a warning', async t => {
  const registry = await loadTools(t, descriptor({ permissions: ['root', 'network'] }))
  t.match(registry.findings, [{ severity: 'warning', rule: 'P18', message: /^tools\[0\]\.permissions has "root"/ }])
  t.strictSame(registry.get('probe')?.tool.permissions, ['network'])
})

t.test('P22 B10 PC5 a timeout is a positive number of seconds, fractions too', async t => {
  t.equal((await soundTool(t, { runtime: { timeout_seconds: 0.25 } })).timeoutSec, 0.25)
  t.notOk('timeoutSec' in await soundTool(t, { runtime: {} }))
  for (const seconds of [0, -1, true, '5', null]) {
    t.strictSame(await faults(t, { runtime: { timeout_seconds: seconds } }), ['runtime.timeout_seconds must be a positive number'])
  }
  for (const runtime of [null, [], 5]) t.strictSame(await faults(t, { runtime }), ['runtime must be an object when provided'])
})

t.test('X8 PC17 a timeout above an hour is an hour, with a warning', async t => {
  const registry = await loadTools(t, descriptor({ runtime: { timeout_seconds: 1e9 } }))
  t.match(registry.findings, [{ severity: 'warning', rule: 'X8' }])
  t.equal(registry.get('probe')?.tool.timeoutSec, 3_600)
})

t.test('P22 X17 PC5 concurrency "serial" is one call at a time; other texts have no effect, with a warning', async t => {
  t.equal((await soundTool(t, { runtime: { concurrency: 'serial' } })).serial, true)
  t.equal((await soundTool(t, {})).serial, false)
  const registry = await loadTools(t, descriptor({ runtime: { concurrency: 'parallel' } }))
  t.match(registry.findings, [{ severity: 'warning', rule: 'X17', message: /^tools\[0\]\.runtime\.concurrency "parallel" has no effect/ }])
  t.equal(registry.get('probe')?.tool.serial, false)
  for (const concurrency of [1, null, []]) t.strictSame(await faults(t, { runtime: { concurrency } }), ['runtime.concurrency must be a string'])
})

t.test('P16 P23 PC14 class, notes and config are passed on; null is none', async t => {
  t.match(await soundTool(t, { class_name: 'Probe', notes: 'Mind the gap.', config: { depth: [1] } }), {
    notes: 'Mind the gap.', run: { className: 'Probe', config: { depth: [1] } }
  })
  const none = await soundTool(t, { class_name: null, notes: null, config: null })
  t.strictSame([none.notes, none.run.kind === 'python' && [none.run.className, none.run.config]], [undefined, [undefined, {}]])
  t.strictSame(await faults(t, { class_name: 7, notes: 7, config: [] }), ['class_name must be a non-empty string', 'notes must be a string', 'config must be an object'])
})

t.test("X13 X14 Toolyard's own fields are booleans", async t => {
  t.match(await soundTool(t, { idempotent: true, strict_outputs: true, enabled: false }), {
    idempotent: true, enabled: false, run: { strictOutputs: true }
  })
  t.match(await soundTool(t, {}), { idempotent: false, enabled: true, run: { strictOutputs: false } })
  for (const field of ['enabled', 'disabled', 'override', 'idempotent', 'strict_outputs']) {
    t.strictSame(await faults(t, { [field]: 'no' }), [`${field} must be a boolean`])
  }
})

t.test('X23 the job type of a tool', async t => {
  t.equal((await soundTool(t, { name: 'git-status_2' })).jobType, 'pylot.git-status_2')
})

t.test('a name that JavaScript objects have by themselves is a name like any other', async t => {
  const registry = await loadTools(t, JSON.parse('{"name":"constructor","description":"x y","module":"mods.probe","inputs":{"__proto__":{"type":"string","required":true},"toString":{"type":"string"}}}'))
  t.strictSame(errors(registry), [])
  t.strictSame(registry.get('constructor')?.validate({}), { ok: false, issues: [{ path: '/__proto__', message: 'is required' }] })
})
