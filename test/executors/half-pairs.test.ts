import t from 'tap'
import { createCommandFixture } from './command-fixture.ts'
import { outputOf } from './fixture.ts'
import { open } from './mcp-fixture.ts'

t.test('X9 half a surrogate pair in JSON becomes U+FFFD, since providers and clients refuse it; all else that is escaped stays', async t => {
  const fixture = await createCommandFixture(t)
  const texts: Record<string, unknown> = {
    '"cut \\ud83d"': 'cut \ufffd',
    '{"file\\udcff": ["\\uDE00\\uD83D", "\\ud83d\\ud83d\\ude00"]}': { 'file\ufffd': ['\ufffd\ufffd', '\ufffd\u{1f600}'] },
    '["\\ud83d\\ude00", "\\\\ud83d", "\\u00e9\\n", "\\\\\\ud83d"]': ['\u{1f600}', '\\ud83d', 'é\n', '\\\ufffd']
  }
  for (const [json, value] of Object.entries(texts)) {
    const program = fixture.program('half', `#!/bin/sh\ncat <<'END'\n${json}\nEND\n`)
    t.same(outputOf(await fixture.run({ program })), value)
  }
  const large = fixture.program('large', '#!/bin/sh\nprintf \'["%070000d\' 0\nprintf "%s" \'\\ud83d"]\'\n')
  t.same(outputOf(await fixture.run({ program: large })), [`${'0'.repeat(70_000)}\ufffd`], 'also where a thread reads it')
})

t.test('half a surrogate pair becomes U+FFFD in the answers and errors of a server', async t => {
  const line = (rest: string): string => `{"jsonrpc":"2.0","id":ID,${rest}}`
  const half = String.raw`cut \ud83d`
  const calls = open(t, [''])
  t.match(await calls.call('line', { line: line(`"result":{"content":[{"type":"text","text":"${half}"}]}`) }), { output: 'cut \ufffd' })
  t.match(await calls.call('line', { line: line(`"error":{"code":1,"message":"${half}"}`) }), { error: { message: /cut \ufffd/ } })
})
