import { existsSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Outcome } from '@toolyard/executors'
import { loadRegistry } from '@toolyard/manifests'
import { boxedTools, withoutBox, type BoxedTools } from '../../sandbox/boxed-tools.ts'
import { writeFiles } from '../../support/files.ts'

const skip = await withoutBox()

/** A skill whose tool `probe` runs `script` with `sh`, in a box; the skill may read and write. */
async function boxed (
  t: Test, args: unknown[], script: string
): Promise<{ tools: BoxedTools, call: (args: Record<string, unknown>) => Promise<Outcome> }> {
  const tools = await boxedTools(t)
  const properties = Object.fromEntries(['from', 'to', 'repo'].map(name => [name, { type: 'string' }]))
  const files = {
    'one/SKILL.md': '# one\n',
    'one/tools.json': [{ name: 'probe', parameters: { type: 'object', properties } }],
    'one/allowlist.json': { sh: ['-c'] },
    'one/execution.json': [{ tool: 'probe', binary: 'sh', subcommand: '-c', successExitCodes: [1], args: [{ kind: 'literal', value: script }, { kind: 'literal', value: 'sh' }, ...args] }],
    'layer.json': { tools: [{ skill: 'one', permissions: ['write_files'] }] }
  }
  writeFiles(tools.base, files)
  const registry = await loadRegistry({ manifests: ['one', 'layer.json'].map(name => join(tools.base, name)), skills: { path: process.env['PATH'] ?? '' } })
  const tool = registry.get('probe')?.tool
  if (tool === undefined) throw new Error(JSON.stringify(registry.findings))
  writeFiles(tools.workspace, Object.fromEntries(['a/in', 'a/other', 'b/out', 'root'].map(name => [name, `${name}\n`])))
  return { tools, call: async args => await tools.executors.run(tool, args, { jobId: 'job', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} }) }
}

const from = { param: 'from', readPath: true }
const to = { param: 'to', writePath: true }

t.test('SN21 SN22 a box shows the files that are named, and nothing else of the workspace', { skip }, async t => {
  const { tools, call } = await boxed(t, [from, to], 'cat "$1"; cp "$1" "$2"; find . -type f | sort; (echo x >"$1"; echo x >root; echo x >b/new) 2>/dev/null; grep Cap /proc/self/status | grep -c 0000000000000000; unshare -U true 2>/dev/null || echo shut')
  t.same(await call({ from: 'a/in', to: 'b/out' }), { ok: true, output: 'a/in\n./a/in\n./b/out\n5\nshut\n' })
  t.equal(readFileSync(join(tools.workspace, 'b/out'), 'utf8'), 'a/in\n')
  t.equal(readFileSync(join(tools.workspace, 'a/in'), 'utf8'), 'a/in\n')
  t.equal(readFileSync(join(tools.workspace, 'root'), 'utf8'), 'root\n')
  t.notOk(existsSync(join(tools.workspace, 'b/new')))
})

t.test('SN22 of a file that is not there yet the directory is shown; of places in each other the outer one', { skip }, async t => {
  const { tools, call } = await boxed(t, [from, to], 'cp "$1" "$2"; find . -type f | sort')
  t.same(await call({ from: 'a/in', to: 'new/deep/file' }), { ok: true, output: './a/in\n./new/deep/file\n' })
  t.equal(readFileSync(join(tools.workspace, 'new/deep/file'), 'utf8'), 'a/in\n')
  t.match(await call({ from: 'a/in', to: 'a/copy' }), { ok: true, output: './a/copy\n./a/in\n./a/other\n' })
})

t.test('SN21 a call shows a program at most 100 paths, and any number of files in a directory of them', { skip }, async t => {
  const { tools, call } = await boxed(t, [{ ...from, split: true }], 'ls "$@" | wc -l')
  const names = Array.from({ length: 101 }, (_, index) => `many/${index}`)
  writeFiles(tools.workspace, Object.fromEntries(names.map(name => [name, ''])))
  t.match(await call({ from: names.join(' ') }), { ok: false, error: { code: 'INVALID_ARGUMENTS', message: /more than 100 paths; a directory of them is one/ } })
  t.match(await call({ from: names.slice(1).join(' ') }), { ok: true, output: /^100\n/ })
  t.match(await call({ from: `many ${names.join(' ')}` }), { ok: true })
})

t.test('SN12 where a program runs in a directory, it is shown that', { skip }, async t => {
  const { call } = await boxed(t, [{ param: 'repo', kind: 'workingdir' }, from], 'pwd; find /"$PWD" -type f | wc -l; cat "$1"')
  t.match(await call({ repo: 'b', from: 'a/in' }), { output: /\/b\n1\na\/in\n$/ })
  t.match(await call({ from: 'a/in' }), { output: /\n4\na\/in\n$/ }, 'the workspace as a whole')
})

t.test('SN21 a link that takes the place of a file leads to nothing that is not shown', { skip }, async t => {
  const { tools, call } = await boxed(t, [from], 'cat "$1"')
  const [file, secret] = [join(tools.workspace, 'a/in'), join(tools.base, 'secret')]
  writeFileSync(secret, 'hunter2')
  const swapping = { on: true }
  const swaps = (async () => {
    while (swapping.on) {
      renameSync(file, `${file}-kept`)
      symlinkSync(secret, file)
      await new Promise(resolve => setImmediate(resolve))
      renameSync(`${file}-kept`, file)
      await new Promise(resolve => setImmediate(resolve))
    }
  })()
  for (let count = 0; count < 20; count++) t.notMatch(JSON.stringify(await call({ from: 'a/in' })), /hunter2/)
  swapping.on = false
  await swaps
})

t.test('SN27 a box in the box that can not be made is no end of the program, whatever exit codes are a success', { skip }, async t => {
  // The program says what bubblewrap would.
  const { call } = await boxed(t, [from], 'echo "bwrap: Creating new namespace failed" >&2; exit 1')
  t.match(await call({ from: 'a/in' }), { ok: false, error: { code: 'SANDBOX_FAILED' } })
})
