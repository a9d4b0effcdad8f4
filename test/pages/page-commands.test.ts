import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { commandsOf, runCommand } from '../support/page-commands.ts'
import { createService, testKeys } from '../support/service.ts'

const slow = {
  files: { 'tools/bin/slow': '#!/bin/sh\nsleep 1\n' },
  tools: [{ name: 'slow_report', schema: { type: 'object' }, command: ['./tools/bin/slow'] }]
}
/** The output of each command of a page, in their order, and the file that the last of them leaves. */
const pages = [
  { page: 'docs/mcp.md', expected: [/"name":"data_file_read"/, /event: message\ndata: .*# A workspace/], given: {} },
  { page: 'docs/http-tools.md', expected: [/"# A workspace\\n"/, /"status":"(?:queued|running)"/, /"note.txt"/], given: slow },
  { page: 'docs/openapi.md', expected: [/"openapi":"3\.1\.0"/, /^$/, /openapi\.json/, /"# A workspace\\n"/], given: {}, leaves: 'tools.d.ts' }
]
const skip = spawnSync('curl', ['--version']).status !== 0 && 'no curl here'

for (const { page, expected, given, leaves } of pages) {
  void t.test(`every command of ${page} does what the page says`, { skip }, async t => {
    const { api } = await createService(t, given)
    const dir = await mkdtemp(join(tmpdir(), 'toolyard-page-'))
    t.teardown(() => rm(dir, { recursive: true }))
    // The reader's installed packages.
    await symlink(join(repoRoot, 'node_modules'), join(dir, 'node_modules'))
    // The pages are read in the directory of one's own tools.
    await writeFile(join(dir, 'tools.json'), 'mine')
    const commands = commandsOf(page)
    t.equal(commands.length, expected.length)
    for (const [index, command] of commands.entries()) {
      const { status, output } = await runCommand(command, { TOOLYARD_URL: api.address, TOOLYARD_API_KEY: testKeys.admin }, dir)
      t.equal(status, 0, output)
      t.match(output, expected[index])
    }
    t.equal(await readFile(join(dir, 'tools.json'), 'utf8'), 'mine')
    if (leaves !== undefined) t.ok(existsSync(join(dir, leaves)))
  })
}
