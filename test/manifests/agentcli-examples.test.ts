import { dirname, join } from 'node:path'
import t from 'tap'
import { loadTexts } from './fixture.ts'

// Both examples stand here exactly as the format's documentation prints them.

t.test('A29 A43 the documented minimal example loads', async t => {
  const { registry, files } = await loadTexts(t, [`{
  "tools": [
    {
      "name": "get_time",
      "description": "Get current time for an IANA timezone",
      "schema": {
        "type": "object",
        "properties": {
          "timezone": {"type": "string", "description": "IANA timezone, e.g. Europe/Helsinki"},
          "tz": {"type": "string", "description": "Alias for timezone (deprecated)"}
        },
        "required": ["timezone"],
        "additionalProperties": false
      },
      "command": ["./tools/bin/get_time"],
      "timeoutSec": 5,
      "envPassthrough": ["TZ", "OAI_HTTP_TIMEOUT"]
    }
  ]
}
`])
  t.strictSame(registry.get('get_time')?.tool, {
    name: 'get_time',
    description: 'Get current time for an IANA timezone',
    parameters: {
      type: 'object',
      properties: {
        timezone: { type: 'string', description: 'IANA timezone, e.g. Europe/Helsinki' },
        tz: { type: 'string', description: 'Alias for timezone (deprecated)' }
      },
      required: ['timezone'],
      additionalProperties: false
    },
    jobType: 'agentcli.get_time',
    timeoutSec: 5,
    enabled: true,
    idempotent: false,
    source: { format: 'agentcli', file: files[0], index: 0 },
    run: {
      kind: 'command',
      name: './tools/bin/get_time',
      program: join(dirname(files[0] ?? ''), 'tools/bin/get_time'),
      args: [],
      envPassthrough: ['TZ', 'OAI_HTTP_TIMEOUT']
    }
  })
  t.strictSame(registry.findings.map(({ rule }) => rule), ['AC12'], 'only the program is missing here')
})

t.test('A30 A43 the documented example without description and environment loads', async t => {
  const { registry } = await loadTexts(t, [`{
  "tools": [
    {
      "name": "get_time",
      "schema": {"type":"object","properties":{"timezone":{"type":"string"}},"required":["timezone"],"additionalProperties":false},
      "command": ["./tools/bin/get_time.exe"],
      "timeoutSec": 5
    }
  ]
}
`])
  t.match(registry.get('get_time')?.tool, {
    description: '', timeoutSec: 5, run: { program: /\/tools\/bin\/get_time\.exe$/, envPassthrough: [] }
  })
  t.strictSame(registry.get('get_time')?.validate({ timezone: 'Europe/Helsinki' }), { ok: true, arguments: { timezone: 'Europe/Helsinki' } })
  t.match(registry.get('get_time')?.validate({}), { ok: false, issues: [{ path: '/timezone', message: 'is required' }] })
})
