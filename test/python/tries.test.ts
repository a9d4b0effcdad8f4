import t from 'tap'
import { createFixture, outputOf, python, toolClass } from './fixture.ts'

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

t.test('P29 one import does for all tools of a module, and for their calls', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', `with open("imports", "a") as file: file.write("x")\n${toolClass('return open("imports").read()')}`)
  t.strictSame(await fixture.executors.tryModule([fixture.tool({}), fixture.tool({ className: 'Sample' })]), [{}, {}])
  t.equal(outputOf(await fixture.run()), 'x')
  t.strictSame(await fixture.executors.tryModule([fixture.tool({})]), [{}])
  t.equal(outputOf(await fixture.run()), 'x')
})
