import { spawnSync } from 'node:child_process'
import t from 'tap'
import { commandsOf, runCommand } from '../support/page-commands.ts'
import { createService, testKeys } from '../support/service.ts'

const commands = commandsOf('docs/http-tools.md')
const expected = [/"# A workspace\\n"/, /"status":"(?:queued|running)"/, /"note.txt"/]
const skip = spawnSync('curl', ['--version']).status !== 0 && 'no curl here'

t.test('every command of docs/http-tools.md does what the page says', { skip }, async t => {
  const { api } = await createService(t, {
    files: { 'tools/bin/slow': '#!/bin/sh\nsleep 1\n' },
    tools: [{ name: 'slow_report', schema: { type: 'object' }, command: ['./tools/bin/slow'] }]
  })
  t.equal(commands.length, expected.length)
  for (const [index, command] of commands.entries()) {
    const { status, output } = await runCommand(command, { TOOLYARD_URL: api.address, TOOLYARD_API_KEY: testKeys.admin })
    t.equal(status, 0, output)
    t.match(output, expected[index])
  }
})
