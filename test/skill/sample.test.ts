import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createFixture } from './fixture.ts'

const samples = fileURLToPath(new URL('../../../samples/skills', import.meta.url))

t.test('the sample skill loads without a finding', async t => {
  const registry = await createFixture(t).load({}, [samples])
  t.same(registry.findings, [])
  t.same(registry.published().map(({ tool }) => tool.name), ['calendar_date', 'calendar_mentions'])
})

t.test('the sample skill computes dates', async t => {
  const fixture = createFixture(t)
  const registry = await fixture.load({}, [samples])
  t.match(await fixture.call(registry, 'calendar_date', {}), { ok: true, output: /^\d{4}-\d\d-\d\d\n$/ })
  t.match(await fixture.call(registry, 'calendar_date', { day: '2026-11-21', long: true }), { ok: true, output: 'Saturday, 21 November 2026\n' })
  t.match(await fixture.call(registry, 'calendar_date', { day: 'year-end' }), { ok: false, error: { code: 'TOOL_FAILED', message: /invalid date/ } }, 'scripts are off')
})

t.test('the sample skill resolves named days where scripts are allowed', async t => {
  const fixture = createFixture(t)
  const registry = await fixture.load({ allowScripts: true }, [samples])
  t.match(await fixture.call(registry, 'calendar_date', { day: 'year-end' }), { ok: true, output: /^\d{4}-12-31\n$/ })
  t.match(await fixture.call(registry, 'calendar_date', { day: 'month-end' }), { ok: true, output: /^\d{4}-\d\d-(28|29|30|31)\n$/ })
  t.match(await fixture.call(registry, 'calendar_date', { day: '2026-11-21' }), { ok: true, output: '2026-11-21\n' }, 'a word that the script does not know is kept')
})

t.test('the sample skill finds files that mention a day', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'plan.md'), 'Release on 2026-11-21.\nNothing else.\n')
  const registry = await fixture.load({}, [samples])
  t.same(await fixture.call(registry, 'calendar_mentions', { day: '21 November 2026' }), { ok: true, output: 'plan.md:1:Release on 2026-11-21.\n' })
  t.match(await fixture.call(registry, 'calendar_mentions', { day: '1999-01-01' }), { ok: false, error: { message: 'exit status 1' } })
  t.match(await fixture.call(registry, 'calendar_mentions', { day: '-f/etc/passwd' }), { ok: false }, 'a value is never an option')
})
