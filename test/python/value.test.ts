import t from 'tap'
import { WrittenNumber } from '@toolyard/contract/terms'
import { createFixture, errorOf, outputOf, python } from './fixture.ts'

/** A Python expression, and the JSON value that it becomes. */
type Row = [expression: string, value: unknown]

const plain: Row[] = [
  ['None', null], ['True', true], ['0', 0], ['False', false], ['""', ''], ['-1.5', -1.5], ['"ü 😀"', 'ü 😀'],
  ['{"a": [1, {"b": None}]}', { a: [1, { b: null }] }], ['(1, (2,))', [1, [2]]], ['2 ** 53', 9007199254740992], ['1.0', new WrittenNumber('1.0')]
]

const converted: Row[] = [
  ['Point(1, Point(2, None))', { x: 1, y: { x: 2, y: null } }],
  ['pathlib.Path("/a") / "b"', '/a/b'],
  ['pathlib.PurePosixPath("c")', 'c'],
  ['datetime.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=datetime.timezone.utc)', '2026-01-02T03:04:05.000006+00:00'],
  ['datetime.datetime(2026, 1, 2)', '2026-01-02T00:00:00'],
  ['datetime.date(2026, 1, 2)', '2026-01-02'],
  ['datetime.time(3, 4)', '03:04:00'],
  ['datetime.timedelta(minutes=1, milliseconds=500)', 60.5],
  ['decimal.Decimal("0.10")', '0.10'],
  ['uuid.UUID(int=1)', '00000000-0000-0000-0000-000000000001'],
  ['[Colour.RED, Level.HIGH, Word.HEY]', ['red', 3, 'hey']],
  ['{3, 1, 2}', [1, 2, 3]],
  ['{"b", 1, None}', ['b', 1, null]],
  ['frozenset(["z", "a"])', ['a', 'z']],
  ['[float("nan"), float("inf"), -float("inf")]', [null, null, null]],
  ['{1: "a", None: "b", True: "c", 1.5: "d", Colour.RED: "e", (1, "x"): "f"}', { 1: 'c', null: 'b', 1.5: 'd', red: 'e', '[1,"x"]': 'f' }],
  ['collections.OrderedDict(b=1, a=2)', { b: 1, a: 2 }],
  ['types.MappingProxyType({"a": 1})', { a: 1 }],
  ['collections.deque([1, 2])', [1, 2]],
  ['[range(3), {"a": 1}.keys(), {"a": 1}.values()]', [[0, 1, 2], ['a'], [1]]],
  ['Pair(1, 2)', [1, 2]],
  ['[Text("t"), Number(4)]', ['t', 4]],
  ['[Array(), Scalar()]', [[1, [2, 3]], 4.5]],
  ['[b"\\x00\\xff", bytearray(b"hi"), memoryview(b"hi")]', [{ $bytes: 'AP8=' }, { $bytes: 'aGk=' }, { $bytes: 'aGk=' }]],
  ['[(n for n in [1]), map(str, [1]), zip([1], [2]), iter([3])]', [[1], ['1'], [[1, 2]], [3]]],
  ['[Model(), {"inner": Model()}]', [{ name: 'm', at: '2026-01-02' }, { inner: { name: 'm', at: '2026-01-02' } }]],
  ['[1 + 2j, fractions.Fraction(1, 3), ipaddress.ip_address("127.0.0.1")]', ['(1+2j)', '1/3', '127.0.0.1']],
  ['[Made(), {Colour.RED: Made()}]', [{ a: [1] }, { red: { a: [1] } }]],
  ['[os.fsdecode(b"\\xff"), {"a\\udcff": 1}]', ['\ufffd', { 'a\ufffd': 1 }]]
]

const refused: Row[] = [
  ['object()', 'the output is of type object, which has no JSON form'],
  ['{"a": [1, lambda: 0]}', 'the output at /a/1 is of type function, which has no JSON form'],
  ['{"a/b": {"c~": object()}}', 'the output at /a~1b/c~0 is of type object, which has no JSON form'],
  ['Point(1, {object(): 1})', 'the output at /y is of type object, which has no JSON form'],
  ['itertools.count()', 'the output is an iterator of more than 1000000 items'],
  ['open("/dev/null")', 'the output is of type TextIOWrapper, which has no JSON form'],
  ['Point', 'the output is of type type, which has no JSON form'],
  ['loop', 'the output at /self/0 contains itself'],
  ['10 ** 400', 'the output is an integer too large for JSON: return it as a text'],
  ['nested(501)', 'the output is nested deeper than 500 levels'],
  ['Endless()', 'the output is nested deeper than 500 levels'],
  ['[{1: "a", "1": "b"}]', 'the output at /0 has two keys that are the same text in JSON'],
  ['Broken()', 'the output cannot be turned into JSON: OSError: no path']
]

const module = `
import array, collections, dataclasses, datetime, decimal, enum, fractions, ipaddress, itertools, os, pathlib, types, typing, uuid

@dataclasses.dataclass
class Point:
    x: int
    y: typing.Any
    origin: typing.ClassVar[int] = 0
    scale: dataclasses.InitVar[int] = 1

class Colour(enum.Enum):
    RED = "red"

class Level(enum.IntEnum):
    HIGH = 3

class Word(str, enum.Enum):
    HEY = "hey"

class Text(str): pass
class Number(int): pass
Pair = collections.namedtuple("Pair", "a b")

class Array:
    def tolist(self): return [1, [2, 3]]

class Made:
    __attrs_attrs__ = (types.SimpleNamespace(name="a"),)

    def __init__(self):
        self.a, self.b = [1], object()


class Model:
    def model_dump(self): return {"name": "m", "at": datetime.date(2026, 1, 2)}

class Scalar:
    def item(self): return 4.5

class Endless:
    def tolist(self): return Endless()

class Broken:
    def __fspath__(self): raise OSError("no path")

loop = {}
loop["self"] = [loop]

def nested(levels):
    value = 1
    for _ in range(levels): value = [value]
    return value

class Sample(Tool):
    def execute(self, expression):
        return eval(expression)
`

t.test('X9 what a tool returns is its output, also when it is falsy', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', module)
  for (const [expression, value] of plain) t.same(await fixture.run({ arguments: { expression } }), { ok: true, output: value }, expression)
  t.same(await fixture.execute('pass'), { ok: true, output: null })
})

t.test('values that JSON does not know have a defined form', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', module)
  for (const [expression, value] of converted) t.strictSame(outputOf(await fixture.run({ arguments: { expression } })), value, expression)
})

t.test('a value without a JSON form is OUTPUT_INVALID, with its type and place', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', module)
  for (const [expression, message] of refused) t.equal(errorOf(await fixture.run({ arguments: { expression } })), `OUTPUT_INVALID: ${String(message)}`, expression)
  t.equal(JSON.stringify(outputOf(await fixture.run({ arguments: { expression: 'nested(500)' } }))).length, 1_001)
})

t.test('of an output above the cap the first part of its JSON is kept, with the size of the whole', python, async t => {
  const fixture = await createFixture(t, { maxOutputBytes: 1_024 })
  const cut = await fixture.execute('return "ü" * 2_000')
  t.same(cut, { ok: true, output: `"${'ü'.repeat(511)}`, cut: { bytes: 4_002, storedBytes: 1_023 } })
  t.same(await fixture.execute('return "x" * 1_022'), { ok: true, output: 'x'.repeat(1_022) })
})

t.test('fault 3 a tool that prints without end is drained and stays within its log', python, async t => {
  const fixture = await createFixture(t)
  t.equal(outputOf(await fixture.execute('for _ in range(200_000): print("x" * 100)\nreturn "done"')), 'done')
  t.equal(fixture.logged.length, 2_001)
})
