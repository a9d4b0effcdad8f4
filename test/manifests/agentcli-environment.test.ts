import t from 'tap'
import { entry, errors, load } from './fixture.ts'

async function passed (t: Parameters<typeof load>[0], envPassthrough: unknown): Promise<string[] | string | undefined> {
  const registry = await load(t, entry({ envPassthrough }))
  const run = registry.get('probe')?.tool.run
  return run?.kind === 'command' ? run.envPassthrough : errors(registry)[0]?.message
}

t.test('A19 the listed variables are passed, and none without a list', async t => {
  t.strictSame(await passed(t, ['TZ', 'OAI_HTTP_TIMEOUT']), ['TZ', 'OAI_HTTP_TIMEOUT'])
  t.strictSame(await passed(t, undefined), [])
  t.strictSame(await passed(t, null), [])
})

t.test('A20 A22 names become upper case, and the first of equal ones stays', async t => {
  t.strictSame(await passed(t, ['tz', 'Path', 'TZ', '_a1', 'PATH']), ['TZ', 'PATH', '_A1'])
})

t.test('A21 A36 a name that does not match is refused with its place', async t => {
  for (const name of ['OAI-API-KEY', '1BAD', 'a b', 'A=B', 'A.B', 'A\n']) {
    const expected = `tool[0] "probe": envPassthrough[1]: invalid name ${JSON.stringify(name)} (must match [A-Z_][A-Z0-9_]*)`
    if (name !== 'A\n') t.equal(await passed(t, ['TZ', name]), expected)
    else t.strictSame(await passed(t, ['TZ', name]), ['TZ', 'A'], 'white space around a name is trimmed')
  }
})

t.test('AC8 an empty entry has its own error text', async t => {
  for (const name of ['', '  ', '\u00a0\t', null]) {
    t.equal(await passed(t, ['TZ', name]), 'tool[0] "probe": envPassthrough[1]: empty name')
  }
})

t.test('AC8 entries are trimmed, and the error quotes what was written', async t => {
  t.strictSame(await passed(t, [' Path ', '\u00a0lang\u00a0', '\u0085home']), ['PATH', 'LANG', 'HOME'])
  t.equal(await passed(t, [' 1bad\u00a0']), 'tool[0] "probe": envPassthrough[0]: invalid name " 1bad\\u00a0" (must match [A-Z_][A-Z0-9_]*)')
})

t.test('AC8 only letters whose upper case is ASCII in Go are accepted', async t => {
  t.strictSame(await passed(t, ['\u017fet', 'b\u0131n']), ['SET', 'BIN'])
  for (const name of ['ä', 'straße', '\ufefftz']) {
    t.match(await passed(t, [name]), /envPassthrough\[0\]: invalid name/)
  }
})

t.test('X19 a secret of the service in the list is a warning: it is not passed', async t => {
  const registry = await load(t, entry({ envPassthrough: ['TZ', 'redis_url', 'API_KEYS_JSON_FILE'] }))
  t.match(registry.findings, [
    { severity: 'warning', rule: 'X19', index: 0, tool: 'probe', message: 'tool[0] "probe": envPassthrough: REDIS_URL is a secret of the service and is not passed' },
    { message: 'tool[0] "probe": envPassthrough: API_KEYS_JSON_FILE is a secret of the service and is not passed' }
  ])
  t.equal(registry.published().length, 1)
})
