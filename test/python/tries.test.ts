import { createHook } from 'node:async_hooks'
import t from 'tap'
import { boxed, createFixture, outputOf, python, toolClass } from './fixture.ts'
import { waitFor } from '../support/condition.ts'

t.test('P29 P16 P17 a trial import says which module or class can\'t be loaded, and why', python, async t => {
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

t.test('X16 a trial import constructs the class with its configuration, says why that fails, and executes nothing', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', `import ctypes
class Sample(Tool):
    def __init__(self, name, description, config):
        how = config.get("how")
        if how == "raise": raise ValueError(f"no {name}")
        if how == "leave": sys.exit(3)
        if how == "end": os._exit(4)
        if how == "crash": os.kill(os.getpid(), signal.SIGSEGV)
    def execute(self): open("executed", "w")
class Lacks(Sample):
    def __init__(self, name): pass
class Abstract(Sample):
    from abc import ABCMeta, abstractmethod
    @abstractmethod
    def missing(self): pass
    __metaclass__ = ABCMeta
class Nothing(Tool, metaclass=Abstract.ABCMeta):
    @Abstract.abstractmethod
    def execute(self): pass`)
  const tools = [{}, ...['raise', 'leave', 'end', 'crash'].map(how => ({ config: { how } })), { className: 'Lacks' }, { className: 'Nothing' }].map(run => fixture.tool({ className: 'Sample', ...run }))
  const tried = await fixture.executors.tryModule(tools)
  t.match(tried.map(({ fault }) => fault?.reason), [
    undefined,
    "class 'Sample' cannot be constructed: ValueError: no sample",
    "class 'Sample' cannot be constructed: SystemExit: 3",
    'its class cannot be constructed: exit status 4',
    'its class cannot be constructed: signal: SIGSEGV',
    /^class 'Lacks' cannot be constructed: TypeError: /,
    /^class 'Nothing' cannot be constructed: TypeError: /
  ])
  t.strictSame(tried.map(({ fault, doubt }) => doubt ?? fault?.what), [undefined, ...Array.from({ length: 6 }, () => 'construction')])
  t.notOk(fixture.has('executed'))
})

t.test('P29 one import serves all tools of a module, and their calls', boxed, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', `with open("imports", "a") as file: file.write("x")\n${toolClass('return open("imports").read()')}`)
  t.strictSame(await fixture.executors.tryModule([fixture.tool({}), fixture.tool({ className: 'Sample' })]), [{}, {}])
  t.equal(outputOf(await fixture.run()), 'x')
  t.strictSame(await fixture.executors.tryModule([fixture.tool({})]), [{}])
  t.equal(outputOf(await fixture.run()), 'x')
})

t.test('a trial import leaves nothing that goes on looking at its processes', python, async t => {
  const timers = new Set<number>()
  const hook = createHook({
    init (id, type) { if (type === 'Timeout') timers.add(id) },
    destroy (id) { timers.delete(id) }
  }).enable()
  t.teardown(() => hook.disable())
  const fixture = await createFixture(t)
  fixture.source('tool.py', toolClass('return 1'))
  const tools = Array.from({ length: 10 }, () => fixture.tool({}))
  t.same(await fixture.executors.tryModule(tools), tools.map(() => ({})))
  // Those of the module's processes stay, and are as many for one tool as for ten.
  await waitFor('the timers of the tries are gone', () => timers.size < tools.length)
})
