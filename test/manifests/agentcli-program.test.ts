import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { loadRegistry, validateManifests } from '@toolyard/manifests'
import { entry, errors, load, loadTexts } from './fixture.ts'

const text = (program: string) => JSON.stringify({ tools: [entry({ command: [program] })] })

async function programOf (t: Parameters<typeof loadTexts>[0], program: string): Promise<{ resolved: string, directory: string }> {
  const { registry, files } = await loadTexts(t, [text(program)])
  const run = registry.get('probe')?.tool.run
  return { resolved: run?.kind === 'command' ? run.program : `refused: ${errors(registry)[0]?.message}`, directory: dirname(files[0] ?? '') }
}

t.test('A9 A11 A13 A14 a relative program is below ./tools/bin of the manifest, wherever the process runs', async t => {
  const { resolved, directory } = await programOf(t, './tools/bin/get_time')
  t.equal(resolved, join(directory, 'tools/bin/get_time'))
})

t.test('A12 the suffix .exe is kept, and added on Windows alone', async t => {
  const windows = process.platform === 'win32'
  for (const [program, file] of [['./tools/bin/a.exe', 'a.exe'], ['./tools/bin/a', windows ? 'a.exe' : 'a']] as const) {
    const { resolved, directory } = await programOf(t, program)
    t.equal(resolved, join(directory, 'tools/bin', file))
  }
})

t.test('A15 AC7 an absolute program is allowed and kept as it is written', async t => {
  for (const program of ['/bin/true', '/usr/../bin/true', '/bin//true']) {
    t.equal((await programOf(t, program)).resolved, program)
  }
})

t.test('AC5 AC6 looser spellings of a path below tools/bin are accepted', async t => {
  for (const [program, file] of [
    ['tools/bin/a', 'a'],
    ['./tools/../tools/bin/ok', 'ok'],
    ['./tools/bin/../../tools/bin/ok', 'ok'],
    ['./tools//bin///a', 'a'],
    ['./tools/bin/sub/dir/a', 'sub/dir/a'],
    ['./tools/bin/./a/', 'a'],
    ['.\\tools\\bin\\ok', 'ok'],
    ['./tools/bin/..a', '..a']
  ] as const) {
    const { resolved, directory } = await programOf(t, program)
    t.equal(resolved, join(directory, 'tools/bin', file), program)
  }
})

t.test('A34 AC6 a relative program elsewhere is refused', async t => {
  for (const program of ['echo', '', ' ./tools/bin/a', 'C:\\x\\y.exe', './Tools/bin/a', './tools/binx/a', './tools/../hack', 'tools/bin/../x', 'tools/bin', '.', 'a/..', '\\abs']) {
    t.match(errors(await load(t, entry({ command: [program] }))), [
      { rule: 'A34', message: 'tool[0] "probe": relative command[0] must start with ./tools/bin/' }
    ], JSON.stringify(program))
  }
})

t.test('A34 the remedy for an interpreter that stands before its script names the script alone', async t => {
  for (const [command, fix] of [
    [['python3', './tools/bin/a.py'], /A script is named alone.*first line says what runs it/],
    [['ls -l | wc'], /No shell reads a command/],
    [['./bin/a'], /Put the program below tools\/bin/]
  ] as const) t.match(errors(await load(t, entry({ command: [...command] })))[0]?.fix, fix, command.join(' '))
})

t.test('AC16 a script of tools/bin that an interpreter would look for in the workspace is told of', async t => {
  const dir = t.testdir({
    tools: { bin: { 'a.py': '' } },
    'tools.json': JSON.stringify({ tools: [['./tools/bin/a.py'], ['tools/bin/a.py', '--all'], ['./tools/bin/b.py'], ['a.py']].map((args, at) => entry({ name: `tool_${at}`, command: [process.execPath, ...args] })) })
  })
  const { findings, ok } = await validateManifests([join(dir, 'tools.json')])
  t.match(findings.filter(({ rule }) => rule === 'AC16'), [
    { severity: 'note', tool: 'tool_0', message: /runs in the workspace, and its argument ".\/tools\/bin\/a.py" is looked for there/, fix: /"command": \[".\/tools\/bin\/a.py"\]/ },
    { severity: 'note', tool: 'tool_1' }
  ])
  t.equal(findings.filter(({ rule }) => rule === 'AC16').length, 2)
  t.equal(ok, true)
})

t.test('A35 AC4 AC5 AC9 a path that leaves the bin directory is refused with both forms', async t => {
  for (const [program, quoted, normalized] of [
    ['./tools/bin/../hack', '"./tools/bin/../hack"', './tools/hack'],
    ['./tools/bin/../../hack', '"./tools/bin/../../hack"', 'hack'],
    ['./tools/bin/..', '"./tools/bin/.."', './tools'],
    ['./tools/bin', '"./tools/bin"', './tools/bin'],
    ['./tools/bin/', '"./tools/bin/"', './tools/bin'],
    ['./tools/bin/.', '"./tools/bin/."', './tools/bin'],
    ['./tools/bin/../binx/a', '"./tools/bin/../binx/a"', './tools/binx/a'],
    ['./tools/bin/../..', '"./tools/bin/../.."', '.'],
    ['.\\tools\\bin\\..\\hack', '".\\\\tools\\\\bin\\\\..\\\\hack"', './tools/hack']
  ] as const) {
    t.match(errors(await load(t, entry({ command: [program] }))), [{
      rule: 'A35',
      message: `tool[0] "probe": command[0] escapes ./tools/bin after normalization (got ${quoted} -> "${normalized}")`
    }], program)
  }
})

t.test('AC3 a path that leads above the manifest is refused, also when it starts below the bin directory', async t => {
  for (const program of ['../x', '..', './../a', '..\\x', './tools/bin/../../../etc/x', 'a/../../b']) {
    t.match(errors(await load(t, entry({ command: [program] }))), [{
      rule: 'AC3',
      message: `tool[0] "probe": command[0] must not start with '..' or escape tools/bin (got ${JSON.stringify(program)})`
    }], program)
  }
})

t.test('AC9 texts are quoted as Go does', async t => {
  for (const [name, quoted] of [
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['\u0007\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
    ['\u0000\u001b\u007f', '"\\x00\\x1b\\x7f"'],
    ['\u00a0\u2028\ufeff', '"\\u00a0\\u2028\\ufeff"'],
    ['äß中😀', '"äß中😀"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['\ud800', '"\ufffd"']
  ] as const) {
    t.match(errors(await load(t, entry({ name, command: [] }))), [{ message: `tool[0] ${quoted}: command must have at least program name` }])
  }
})

t.test('AC7 AC12 a program that is missing or cannot run is a warning, and the tool is served', async t => {
  const directory = t.testdir({ tools: { bin: { plain: '', folder: {} } } })
  const bin = join(directory, 'tools/bin')
  chmodSync(join(bin, 'plain'), 0o644)
  for (const [name, why] of [
    ['none', 'no such file or directory'],
    ['plain/below', 'no such file or directory'],
    ['folder', 'not a file'],
    ['plain', 'permission denied'],
    ['nul\0byte', 'it cannot be looked up']
  ] as const) {
    const file = join(directory, 'tools.json')
    writeFileSync(file, text(`./tools/bin/${name}`))
    const registry = await loadRegistry({ manifests: [file], builtins: false })
    const program = join(bin, name).replace('\0', '\\x00')
    t.match(registry.findings, [{
      severity: 'warning', rule: 'AC12', index: 0, message: `configured tool "probe" is unavailable: ${why} (program "${program}")`,
      ...name === 'plain' && { fix: `Make it executable: chmod +x ${program}` }
    }], name)
    t.equal(registry.published().length, 1)
  }
})

t.test('A11 a program that a link leads out of the bin directory, or that others may replace, is a warning', async t => {
  const directory = t.testdir({ outside: '#!/bin/sh\n', tools: { bin: { open: '#!/bin/sh\n', inside: '#!/bin/sh\n' } } })
  const bin = join(directory, 'tools/bin')
  chmodSync(join(directory, 'outside'), 0o755)
  chmodSync(join(bin, 'inside'), 0o755)
  chmodSync(join(bin, 'open'), 0o777)
  symlinkSync('../../outside', join(bin, 'link'))
  symlinkSync('inside', join(bin, 'alias'))
  const programs = ['link', 'open', 'inside', 'alias']
  writeFileSync(join(directory, 'tools.json'), JSON.stringify({
    tools: programs.map(name => entry({ name, command: [`./tools/bin/${name}`] }))
  }))
  const { findings } = await loadRegistry({ manifests: [join(directory, 'tools.json')], builtins: false })
  t.match(findings, [
    { severity: 'warning', rule: 'A11', tool: 'link', message: /is a symbolic link out of tools\/bin/ },
    { severity: 'warning', rule: 'A11', tool: 'open', message: /may be replaced by others than its owner/ }
  ])
  t.equal(findings.length, 2)
  const { findings: judged } = await validateManifests([join(directory, 'tools.json')])
  t.match(judged.find(({ rule }) => rule === 'A11'), { line: 1, message: `to "${join(directory, 'outside')}", which is what runs` })
})

t.test('A11 a link out of the bin directory is reported wherever it is in the path, beside other faults of the program', async t => {
  const directory = t.testdir({ elsewhere: { open: '#!/bin/sh\n' }, linked: { tools: {} }, whole: {} })
  chmodSync(join(directory, 'elsewhere/open'), 0o777)
  symlinkSync('../../elsewhere', join(directory, 'linked/tools/bin'))
  symlinkSync('../linked/tools', join(directory, 'whole/tools'))
  for (const name of ['linked', 'whole']) {
    writeFileSync(join(directory, name, 'tools.json'), JSON.stringify({ tools: [entry({ name: 'open', command: ['./tools/bin/open'] })] }))
    const { findings } = await loadRegistry({ manifests: [join(directory, name, 'tools.json')], builtins: false })
    t.match(findings, [{ rule: 'A11', message: /is a symbolic link out of tools\/bin/ }, { rule: 'A11', message: /may be replaced by others/ }], name)
  }
})

t.test('a script that the kernel would not start is named with its fault: CR LF, no #! line, no interpreter, or none that env finds', async t => {
  const names = ['windows', 'plain', 'lost', 'good', 'empty', 'unfound', 'found', 'split', 'words', 'set', 'quoted', 'options', 'marked']
  const dir = t.testdir({
    tools: { bin: { windows: '#!/bin/sh\r\necho\r\n', plain: 'echo hello\n', lost: '#!/no/such/interpreter -x\n', good: '#!/bin/sh\n', empty: '', unfound: '#!/usr/bin/env no-such-node\n', found: '#!/usr/bin/env sh\n', split: '#!/usr/bin/env -S no-such-node -x\n', words: '#!/usr/bin/env -S sh -e\n', set: '#!/usr/bin/env -S A=1 no-such-node\n', quoted: '#!/usr/bin/env -S "no such"\n', options: '#!/usr/bin/env -i no-such-node\n', marked: '\ufeff#!/bin/sh\n' } },
    'tools.json': JSON.stringify({ tools: names.map(name => entry({ name, command: [`./tools/bin/${name}`] })) })
  })
  for (const name of names) chmodSync(join(dir, 'tools/bin', name), 0o755)
  const { findings } = await validateManifests([join(dir, 'tools.json')], { skills: { path: process.env['PATH'] ?? '' } })
  const told = (name: string): string[] => findings.filter(finding => finding.tool === name && finding.rule === 'AC12').map(({ severity, message }) => `${severity}: ${message.replace(/ \(program.*/, '')}`)
  t.same(told('windows'), ['error: configured tool "windows" is unavailable: its lines end in CR LF, as on Windows, so the kernel looks for an interpreter whose name ends in CR; save it with LF alone'])
  t.same(told('plain'), ['error: configured tool "plain" is unavailable: it is neither a binary nor a script with a #! line'])
  t.same(told('marked'), ['error: configured tool "marked" is unavailable: a byte order mark stands before its #! line, so the kernel takes it for no script; save it as UTF-8 without one'])
  t.same(told('empty'), ['error: configured tool "empty" is unavailable: it is neither a binary nor a script with a #! line'])
  t.same(told('lost'), ['error: configured tool "lost" is unavailable: its interpreter "/no/such/interpreter" is missing'])
  t.same(told('unfound'), ['error: configured tool "unfound" is unavailable: its interpreter "no-such-node" is not on the PATH'])
  t.same(told('split'), ['error: configured tool "split" is unavailable: its interpreter "no-such-node" is not on the PATH'])
  for (const name of ['good', 'found', 'words', 'set', 'quoted', 'options']) t.same(told(name), [], name)
  const { findings: elsewhere } = await validateManifests([join(dir, 'tools.json')])
  t.notOk(elsewhere.some(({ tool, rule }) => tool === 'unfound' && rule === 'AC12'), 'without a PATH nothing is looked for')
})
