import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { commandsOf, runCommand } from '../support/page-commands.ts'
import { createService, testKeys } from '../support/service.ts'

const commands = commandsOf('docs/openapi.md')
const expected = [/"openapi":"3\.1\.0"/, /^$/, /tools\.json/, /"# A workspace\\n"/]
const skip = spawnSync('curl', ['--version']).status !== 0 && 'no curl here'

t.test('every command of docs/openapi.md does what the page says', { skip }, async t => {
  const { api } = await createService(t)
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-page-'))
  t.teardown(() => rm(dir, { recursive: true }))
  // What the reader has installed.
  await symlink(join(repoRoot, 'node_modules'), join(dir, 'node_modules'))
  t.equal(commands.length, expected.length)
  for (const [index, command] of commands.entries()) {
    const { status, output } = await runCommand(command, { TOOLYARD_URL: api.address, TOOLYARD_API_KEY: testKeys.admin }, dir)
    t.equal(status, 0, output)
    t.match(output, expected[index])
  }
  t.ok(existsSync(join(dir, 'tools.d.ts')))
})
