import t from 'tap'
import { createFixture, errorOf, outputOf, python, toolClass } from './fixture.ts'

t.test('P16 class_name names the class', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', toolClass('return "first"', 'First') + toolClass('return "second"', 'Second'))
  t.equal(outputOf(await fixture.run({ className: 'Second' })), 'second')
  fixture.source('tool.py', 'class Plain:\n    def __init__(self, *arguments): pass\n    def execute(self): return "plain"')
  t.equal(outputOf(await fixture.run({ className: 'Plain' })), 'plain', 'it needs no base class')
})

t.test('P16 a class_name that cannot be a tool is unavailable', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'number = 1\nclass Empty:\n    pass')
  t.equal(errorOf(await fixture.run({ className: 'Absent' })), "TOOL_UNAVAILABLE: class 'Absent' not found in module 'tool'")
  t.equal(errorOf(await fixture.run({ className: 'number' })), "TOOL_UNAVAILABLE: class 'number' not found in module 'tool'")
  t.equal(errorOf(await fixture.run({ className: 'Empty' })), "TOOL_UNAVAILABLE: class 'Empty' of module 'tool' has no method execute")
})

t.test('P17 PC14 without class_name the first subclass of Tool in the module is used', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'class Zero:\n    def execute(self): return "zero"\n' + toolClass('return "first"', 'Zebra') + toolClass('return "second"', 'Ape'))
  t.equal(outputOf(await fixture.run()), 'first')
})

t.test('P17 a module without a subclass of Tool is unavailable', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'class Alone:\n    def execute(self): return 1')
  t.equal(errorOf(await fixture.run()), "TOOL_UNAVAILABLE: no Tool subclass found in module 'tool'")
})

t.test('B7 PC14 discovery never chooses an imported class', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('shared.py', toolClass('return "dummy"', 'DummyTool'))
  fixture.source('tool.py', 'from shared import DummyTool\n' + toolClass('return "own"', 'Own'))
  t.equal(outputOf(await fixture.run()), 'own')
  fixture.source('tool.py', 'from shared import DummyTool')
  t.equal(errorOf(await fixture.run()), "TOOL_UNAVAILABLE: no Tool subclass found in module 'tool'")
})

t.test('PC14 PC15 tools that extend the Tool class of another project work unchanged', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('src/bridge/base.py', 'class Tool:\n    def __init__(self, name, description, config=None):\n        self.name, self.description, self.config = name, description, config or {}\n    def execute(self, **kwargs): raise NotImplementedError')
  fixture.source('src/bridge/tools/greet.py', 'from src.bridge.base import Tool\nclass Named(Tool):\n    pass\nclass Greet(Named):\n    def execute(self, who="you", **_):\n        return f"{self.config[\'word\']} {who}"')
  const run = { module: 'src.bridge.tools.greet', config: { word: 'hello' } }
  t.equal(outputOf(await fixture.run({ ...run, className: 'Greet', arguments: { who: 'me', extra: 1 } })), 'hello me')
  t.match(errorOf(await fixture.run(run)), /^TOOL_FAILED: NotImplementedError/, 'an indirect subclass is one too, and the first')
})

t.test('PC14 PC15 the class gets name, description and config, and execute the arguments', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', toolClass('return [self.name, self.description, self.config, arguments]'))
  t.same(outputOf(await fixture.run({ config: { a: [1, null] }, arguments: { b: 'ü', c: { d: true } } })), ['sample', 'A sample.', { a: [1, null] }, { b: 'ü', c: { d: true } }])
  fixture.source('tool.py', 'class Sample(Tool):\n    def __init__(self, *given):\n        self.given = given\n    def execute(self):\n        return self.given')
  t.same(outputOf(await fixture.run()), ['sample', 'A sample.', {}])
})

t.test('PC15 a tool without an execute of its own fails', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'class Lazy(Tool):\n    pass')
  t.equal(errorOf(await fixture.run()), 'TOOL_FAILED: NotImplementedError: Lazy does not implement execute')
})

t.test('a class that cannot be constructed is unavailable', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'class Bare(Tool):\n    def __init__(self): pass\nclass Leaving(Tool):\n    def __init__(self, *given): sys.exit(3)')
  t.match(errorOf(await fixture.run()), /^TOOL_UNAVAILABLE: class 'Bare' cannot be constructed: TypeError: .*takes 1 positional argument but 4 were given$/)
  t.equal(errorOf(await fixture.run({ className: 'Leaving' })), "TOOL_UNAVAILABLE: class 'Leaving' cannot be constructed: SystemExit: 3")
})

t.test('each call has its own instance and its own memory', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'seen = []\n' + toolClass('seen.append(1)\nself.config["n"] = self.config.get("n", 0) + 1\nreturn [len(seen), self.config]'))
  for (const round of [1, 2, 3]) t.same(outputOf(await fixture.run()), [1, { n: 1 }], `round ${round}`)
})
