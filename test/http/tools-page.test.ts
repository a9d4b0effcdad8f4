import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { startService, testKeys } from '../support/service.ts'

const page = readFileSync(join(repoRoot, 'docs/http-tools.md'), 'utf8')
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, command = '']) => command)
const expected = [/"# A workspace\\n"/, /"status":"(?:queued|running)"/, /"note.txt"/]

t.test('every command of docs/http-tools.md does what the page says', { skip: spawnSync('curl', ['--version']).status !== 0 && 'no curl here' }, async t => {
  const { api } = await startService(t, {
    files: { 'tools/bin/slow': '#!/bin/sh\nsleep 1\n' },
    tools: [{ name: 'slow_report', schema: { type: 'object' }, command: ['./tools/bin/slow'] }]
  })
  t.equal(commands.length, expected.length)
  for (const [index, command] of commands.entries()) {
    const shell = spawn('sh', ['-ec', command], { env: { ...process.env, TOOLYARD_URL: api.address, TOOLYARD_API_KEY: testKeys.admin }, stdio: ['ignore', 'pipe', 'inherit'] })
    const [output, [status]] = await Promise.all([text(shell.stdout), once(shell, 'exit') as Promise<[number | null]>])
    t.equal(status, 0, output)
    t.match(output, expected[index])
  }
})
