import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { errorOf, outputOf, python } from '../python/fixture.ts'
import { boxedPython } from '../sandbox/boxed-python.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { waitFor } from '../support/condition.ts'

/* What lies in a directory that the service keeps for itself, and what leads there. */

const skip = await withoutBox()
const withoutPython = python.skip === false ? skip : python.skip
t.setTimeout(120_000)
const secret = 'the-secret-of-the-service'
const readAll = 'grep -rl "the-secret"-of-the-service . "$1" 2>/dev/null; ls -R . "$1"'

function put (path: string, content = secret): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

void t.test('fault 13 a Python root inside of a directory of the service is refused by any path', { skip: withoutPython }, async t => {
  const tools = await boxedPython(t, { hidden: ['.toolyard', 'audit'] })
  const body = 'from toolyard import Tool\n\nclass Reader(Tool):\n    def execute(self):\n        import os\n        return os.listdir(os.path.dirname(__file__))\n'
  for (const name of ['.toolyard/tools', '.toolyard', 'audit/deep/tools']) {
    put(join(tools.base, name, 'tool.py'), body)
    put(join(tools.base, name, 'key'))
    t.match(errorOf(await tools.call({ root: join(tools.base, name) })), /^SANDBOX_FAILED: .*the Python root .* is inside .*(?:\.toolyard|audit), where the service keeps files of its own; give the tools a directory of their own/, name)
  }
  symlinkSync('.toolyard/tools', join(tools.base, 'linked'))
  t.match(errorOf(await tools.call({ root: join(tools.base, 'linked') })), /^SANDBOX_FAILED: .* is inside /, 'a link')
  put(join(tools.base, 'beside/tool.py'), body)
  t.match(outputOf(await tools.call({ root: join(tools.base, 'beside') })), ['tool.py'])
})

void t.test('fault 13 a program in a directory of the service is shown without that directory', { skip }, async t => {
  const tools = await boxedTools(t, { hidden: ['tools'] })
  const program = tools.program('reads', '#!/bin/sh\ncat "$(dirname "$0")/../key"\n')
  put(join(tools.base, 'tools/key'))
  t.match(await tools.run({ program }), { ok: false, error: { code: 'SANDBOX_FAILED', message: /is inside .*tools, where the service keeps files of its own/ } })
})

void t.test('fault 13 a hard link to a file of the service is in no box', { skip }, async t => {
  const tools = await boxedTools(t, { hidden: ['.toolyard', '.env'] })
  const inside = put(join(tools.base, '.toolyard/redis/aof/base'))
  const outside = put(join(tools.base, '.env'))
  const program = tools.program('reads', `#!/bin/sh\n${readAll}\n`)
  const directory = join(tools.base, 'tools')
  const read = async (permissions: readonly ('read_repo' | 'write_files')[]): Promise<string> => JSON.stringify(await tools.run({ program, args: [directory], permissions }))
  t.match(await read(['read_repo']), /reads/)
  for (const [what, path] of [['among programs', 'tools/bin/second'], ['in the workspace', 'workspace/deep/second']] as const) {
    mkdirSync(dirname(join(tools.base, path)), { recursive: true })
    for (const file of [inside, outside]) {
      linkSync(file, join(tools.base, path))
      // A result counts for a while: fifty times as long as it took to look.
      t.ok(await waitFor('the name is gone', async () => !(await read(['read_repo'])).includes('second')), `${what}, of ${file}`)
      if (path.startsWith('workspace')) t.match(await read(['write_files']), /SANDBOX_FAILED.*the workspace holds another name \(a hard link\) of a file of the service \(deep\/second\), so no tool may write to it/)
      rmSync(join(tools.base, path))
    }
  }
  const writes = async (): Promise<boolean> => (await tools.shell('touch made && ls', { permissions: ['write_files'] })).ok
  t.ok(await waitFor('the look at the last name is over', writes))
})

void t.test('fault 13 a hard link to a file of the service is in no Python root', { skip: withoutPython }, async t => {
  const tools = await boxedPython(t, { hidden: ['.toolyard'] })
  const file = put(join(tools.base, '.toolyard/keys/api'))
  linkSync(file, join(tools.root, 'second'))
  linkSync(file, join(tools.workspace, 'third'))
  const body = 'return sorted(os.listdir(os.path.dirname(__file__))) + os.listdir(".")'
  t.strictSame(outputOf(await tools.execute('tool', body)), ['tool.py'])
})
