import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { boxed, createFixture, errorOf, outputOf, python, toolClass } from './fixture.ts'

t.test('P15 P30 PC13 a module is a dotted name, a path, or starts with one dot', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('mods/two.py', toolClass('return __name__'))
  for (const module of ['mods.two', 'mods/two.py', './mods/two.py', '.mods.two', 'mods/two', 'mods.two.py', '.mods/two.py']) {
    t.equal(outputOf(await fixture.run({ module })), 'mods.two', module)
  }
})

t.test('PC13 a module may be a package', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('src/bridge/tools/git_status/__init__.py', 'from .words import word\n' + toolClass('return word'))
  fixture.source('src/bridge/tools/git_status/words.py', 'word = "clean"')
  t.equal(outputOf(await fixture.run({ module: 'src.bridge.tools.git_status' })), 'clean')
})

t.test('PC13 a module that is not there is looked for in the package tools', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tools/late.py', toolClass('return "found"'))
  t.equal(outputOf(await fixture.run({ module: 'late' })), 'found')
})

t.test('PC13 a module path does not lead out of the root', python, async t => {
  const fixture = await createFixture(t)
  writeFileSync(join(fixture.root, '..', 'outside.py'), 'raise Exception("outside")')
  mkdirSync(join(fixture.root, 'mods'))
  for (const module of ['../outside.py', '..outside', 'mods/../../outside.py']) {
    t.match(errorOf(await fixture.run({ module })), /^TOOL_UNAVAILABLE: module '.*' does not import: ImportError: a module path must not lead out of the root$/, module)
  }
})

t.test('P29 B8 an import that fails says why, with the first error, and its traceback is in the log', python, async t => {
  const fixture = await createFixture(t)
  t.equal(errorOf(await fixture.run({ module: 'mods.absent' })),
    "TOOL_UNAVAILABLE: module 'mods.absent' does not import: ModuleNotFoundError: No module named 'mods'")
  fixture.source('needy.py', 'import not_installed_here')
  t.equal(errorOf(await fixture.run({ module: 'needy' })),
    "TOOL_UNAVAILABLE: module 'needy' does not import: ModuleNotFoundError: No module named 'not_installed_here'")
  t.match(fixture.logged.join('\n'), /\n {2}File "needy\.py", line \d+, in <module>\n.*import not_installed_here/)
  fixture.source('tools/hidden.py', 'import not_installed_either')
  t.equal(errorOf(await fixture.run({ module: 'hidden' })),
    "TOOL_UNAVAILABLE: module 'hidden' does not import: ModuleNotFoundError: No module named 'not_installed_either'")
})

t.test('B9 a module with any fault is unavailable, and the other modules of its root are served', boxed, async t => {
  const fixture = await createFixture(t)
  const faults: Array<[name: string, text: string, reason: RegExp]> = [
    ['syntax', 'def broken(:', /^SyntaxError: .*syntax\.py, line 3\)$/],
    ['runtime', 'raise RuntimeError("not today")', /^RuntimeError: not today$/],
    ['leaving', 'sys.exit(7)', /^SystemExit: 7$/],
    ['interrupt', 'raise KeyboardInterrupt', /^KeyboardInterrupt$/],
    ['vanishing', 'os._exit(7)', /^exit status 7$/],
    ['crashing', 'os.kill(os.getpid(), signal.SIGSEGV)', /^signal: SIGSEGV$/],
    ['killing', 'os.kill(os.getpid(), signal.SIGKILL)', /^signal: SIGKILL$/]
  ]
  fixture.source('sound.py', toolClass('return os.getppid()'))
  const template = outputOf(await fixture.run({ module: 'sound' }))
  for (const [module, text, reason] of faults) {
    fixture.source(`${module}.py`, text)
    const prefix = `TOOL_UNAVAILABLE: module '${module}' does not import: `
    const error = errorOf(await fixture.run({ module }))
    t.equal(error.slice(0, prefix.length), prefix)
    t.match(error.slice(prefix.length), reason)
  }
  t.equal(outputOf(await fixture.run({ module: 'sound' })), template)
})

t.test('a module that is imported without end fails the call at its timeout, and holds up no other module', boxed, async t => {
  const fixture = await createFixture(t)
  fixture.source('endless.py', 'while True: pass')
  fixture.source('sound.py', toolClass('return 1'))
  const [endless, sound] = await Promise.all([fixture.run({ module: 'endless', timeoutMs: 5_000 }), fixture.run({ module: 'sound' })])
  t.same(endless, { ok: false, error: { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: 5 } } })
  t.equal(outputOf(sound), 1)
  t.match(fixture.logged, ["module 'endless' is still being imported"])
})

t.test('an import that takes longer than the first call\'s timeout is ready for the next call', boxed, async t => {
  const fixture = await createFixture(t)
  fixture.source('slow.py', 'open("started", "a").write("x")\nwhile not os.path.exists("go"): time.sleep(0.01)\n' + toolClass('return 1'))
  t.match(await fixture.run({ module: 'slow', timeoutMs: 1_500 }), { error: { code: 'TOOL_TIMEOUT' } })
  writeFileSync(join(fixture.workspace, 'go'), '')
  t.equal(outputOf(await fixture.run({ module: 'slow' })), 1)
  t.equal(fixture.written('started'), 'x')
})

t.test('a module is imported once for many calls, also when they arrive at once', boxed, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'open("imports", "a").write("x")\n' + toolClass('return arguments["n"]'))
  const outcomes = await Promise.all([1, 2, 3, 4, 5].map(n => fixture.run({ arguments: { n } })))
  t.same(outcomes.map(outputOf), [1, 2, 3, 4, 5])
  t.equal(outputOf(await fixture.run({ arguments: { n: 6 } })), 6)
  t.equal(fixture.written('imports'), 'x')
})

t.test('what a module prints while it is imported goes to the log of the call that waits for it', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'print("loading")\nprint("careful", file=sys.stderr)\nos.write(1, b"raw\\n")\n' + toolClass('return "quiet"'))
  t.equal(outputOf(await fixture.run()), 'quiet')
  t.same([...fixture.logged].sort(), ['careful', 'loading', 'raw'])
})

t.test('a module of the root is found before an installed one, but does not hide the standard library', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('json.py', 'raise Exception("not the real json")')
  fixture.source('pip/__init__.py', 'where = "root"')
  fixture.source('tool.py', 'import json, pip\n' + toolClass('return json.loads("[1]") + [pip.where]'))
  t.same(outputOf(await fixture.run()), [1, 'root'])
})

t.test('nothing is written to the Python root', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('mods/helper.py', 'word = 1')
  fixture.source('tool.py', 'import mods.helper\n' + toolClass('import mods.helper\nreturn sorted(os.listdir(os.path.dirname(__file__))) + os.listdir(os.path.dirname(mods.helper.__file__))'))
  t.same(outputOf(await fixture.run()), ['mods', 'tool.py', 'helper.py'])
})
