import { spawnSync } from 'node:child_process'
import { rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { boxed, createFixture, errorOf, outputOf, python, toolClass } from './fixture.ts'
import { waitFor } from '../support/condition.ts'

t.test('a changed module is imported again before the next call', python, async t => {
  const fixture = await createFixture(t)
  for (const word of ['one', 'two', 'a longer one']) {
    fixture.source('tool.py', toolClass(`return "${word}"`))
    t.equal(outputOf(await fixture.run()), word)
  }
})

t.test('a change that keeps the size or the time, or both, is noticed', python, async t => {
  const fixture = await createFixture(t)
  const file = join(fixture.root, 'tool.py')
  fixture.source('tool.py', toolClass('return "one"'))
  t.equal(outputOf(await fixture.run()), 'one')
  const { atime, mtime } = statSync(file)
  fixture.source('tool.py', toolClass('return "three"'))
  utimesSync(file, atime, mtime)
  t.equal(outputOf(await fixture.run()), 'three')
  fixture.source('tool.py', toolClass('return "forty"'))
  utimesSync(file, atime, mtime)
  t.equal(outputOf(await fixture.run()), 'forty', 'or both')
  rmSync(file)
  fixture.source('tool.py', toolClass('return "seven"'))
  t.equal(outputOf(await fixture.run()), 'seven')
})

t.test('a change is noticed where Python keeps a cache of the source of before, of the same size and time', python, async t => {
  const fixture = await createFixture(t)
  const file = join(fixture.root, 'words.py')
  fixture.source('tool.py', `from words import word\n${toolClass('return word')}`)
  fixture.source('words.py', 'word = "one"')
  const { atime, mtime } = statSync(file)
  t.equal(spawnSync('python3', ['-m', 'compileall', '-q', fixture.root]).status, 0)
  t.equal(outputOf(await fixture.run()), 'one')
  fixture.source('words.py', 'word = "two"')
  utimesSync(file, atime, mtime)
  t.equal(outputOf(await fixture.run()), 'two')
})

t.test('a change of a module below the root that was imported by another one is noticed', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('lib/deep/words.py', 'word = "one"')
  fixture.source('lib/__init__.py', 'from .deep.words import word')
  fixture.source('tool.py', 'import lib\n' + toolClass('return lib.word'))
  t.equal(outputOf(await fixture.run()), 'one')
  fixture.source('lib/deep/words.py', 'word = "two"')
  t.equal(outputOf(await fixture.run()), 'two')
})

t.test('a file that was missing is noticed when it appears', python, async t => {
  const fixture = await createFixture(t)
  t.match(errorOf(await fixture.run()), /^TOOL_UNAVAILABLE/)
  fixture.source('tool.py', 'import helper\n' + toolClass('return helper.word'))
  t.match(errorOf(await fixture.run()), /No module named 'helper'$/)
  fixture.source('helper.py', 'word = "there"')
  t.equal(outputOf(await fixture.run()), 'there')

  fixture.source('careful.py', 'try: from extras import word\nexcept ImportError: word = "none"\n' + toolClass('return word'))
  t.equal(outputOf(await fixture.run({ module: 'careful' })), 'none')
  fixture.source('extras/__init__.py', 'word = "some"')
  t.equal(outputOf(await fixture.run({ module: 'careful' })), 'some')
  rmSync(join(fixture.root, 'extras'), { recursive: true })
  t.equal(outputOf(await fixture.run({ module: 'careful' })), 'none')
})

t.test('a module that a change breaks is unavailable until it is fixed', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', toolClass('return 1'))
  t.equal(outputOf(await fixture.run()), 1)
  fixture.source('tool.py', 'nonsense(')
  t.match(errorOf(await fixture.run()), /^TOOL_UNAVAILABLE: module 'tool' does not import: SyntaxError/)
  fixture.source('tool.py', toolClass('return 2'))
  t.equal(outputOf(await fixture.run()), 2)
})

t.test('running calls go on with the source that they started with', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('helper.py', 'word = "old"')
  fixture.source('tool.py', 'import helper\n' + toolClass('print("up")\nwhile not os.path.exists(arguments["until"]): time.sleep(0.01)\nreturn helper.word'))
  const old = fixture.run({ arguments: { until: 'go' } })
  await waitFor('the call runs', () => fixture.logged.includes('up'))
  fixture.source('helper.py', 'word = "new"')
  t.equal(outputOf(await fixture.run({ arguments: { until: '/' } })), 'new')
  writeFileSync(join(fixture.workspace, 'go'), '')
  t.equal(outputOf(await old), 'old')
})

t.test('an unchanged module is not imported again, whatever else happens in its root', boxed, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'open("imports", "a").write("x")\n' + toolClass('return 1'))
  t.equal(outputOf(await fixture.run()), 1)
  fixture.source('other.py', '')
  fixture.source('data/notes.txt', '')
  t.equal(outputOf(await fixture.run()), 1)
  t.equal(fixture.written('imports'), 'x')
})

/** Writes messages as those of its template to whoever reads them, a moment after its import. */
const flood = `import os, threading, uuid
token = str(uuid.uuid4())
def write(fd):
    try:
        while True: os.write(fd, b"\\x00\\x00\\x00\\x02{}" * 1000)
    except OSError: pass
def begin():
    for fd in range(3, 32): threading.Thread(target=write, args=(fd,), daemon=True).start()
threading.Timer(0.2, begin).start()
`

t.test('a template whose module writes messages in its place is given up', boxed, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', flood + toolClass('return token'))
  const first = outputOf(await fixture.run())
  await waitFor('another template serves', async () => {
    const outcome = await fixture.run()
    return outcome.ok && outcome.output !== first
  })
})
