import { readFileSync } from 'node:fs'
import t from 'tap'
import { createFixture, isAlive, linuxPython, openPython, outputOf, python, toolClass, until } from './fixture.ts'

t.test('P29 P16 P17 a try says which module or class can\'t be loaded, and why', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('raises.py', 'raise RuntimeError("no such device")')
  fixture.source('tool.py', toolClass('return 1', 'First') + 'Other = type("Other", (), {})')
  fixture.source('bare.py', 'value = 1')
  const [raised] = await fixture.executors.tryModule([fixture.tool({ module: 'raises' })])
  t.match(raised, { fault: { what: 'module', reason: 'RuntimeError: no such device' } })
  t.notOk(raised?.doubt)
  const tried = await fixture.executors.tryModule([fixture.tool({ className: 'First' }), fixture.tool({ className: 'Other' }), fixture.tool({ className: 'Missing' }), fixture.tool({})])
  t.match(tried.map(({ fault }) => fault?.what), [undefined, 'class', 'class', undefined])
  t.match(await fixture.executors.tryModule([fixture.tool({ module: 'bare' })]), [{ fault: { what: 'class' } }])
})

t.test('a try constructs and executes nothing', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'class Sample(Tool):\n    def __init__(self, *given): open("constructed", "w")\n    def execute(self): open("executed", "w")')
  t.strictSame(await fixture.executors.tryModule([fixture.tool({})]), [{}])
  t.notOk(fixture.has('constructed') || fixture.has('executed'))
})

t.test('a try keeps no module that nobody calls', openPython, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', `import atexit\nwith open(${JSON.stringify(`${fixture.root}/imported`)}, "a") as file: file.write("%d\\n" % os.getpid())\n${toolClass('return os.getppid()')}`)
  t.strictSame(await fixture.executors.tryModule([fixture.tool({}), fixture.tool({ className: 'Sample' })]), [{}, {}])
  const imported = readFileSync(`${fixture.root}/imported`, 'utf8').trim().split('\n').map(Number)
  t.equal(imported.length, 1, 'one import does for all tools of a module')
  await until('it is gone', () => !imported.some(isAlive))
})

t.test('a try leaves a module that has been called in place', linuxPython, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', toolClass('return open("/proc/self/stat").read().split()[3]') + 'imported = os.urandom(8).hex()\n' + toolClass('return imported', 'Imported'))
  const before = outputOf(await fixture.run({ className: 'Imported' }))
  t.strictSame(await fixture.executors.tryModule([fixture.tool({ className: 'Imported' })]), [{}])
  t.equal(outputOf(await fixture.run({ className: 'Imported' })), before)
})
