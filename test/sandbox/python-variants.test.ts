import t from 'tap'
import { python } from '../python/fixture.ts'
import { boxedPython } from './boxed-python.ts'
import { withoutBox } from './boxed-tools.ts'

const skip = python.skip || await withoutBox()
const ok = (output: unknown): object => ({ ok: true, output })
const fails = (code: string, message: RegExp): object => ({ ok: false, error: { code, message } })

/** Attacks of a tool on whoever runs it, with what comes of them. */
const variants: Record<string, [body: string, outcome: object]> = {
  'a generator': ['yield 1', ok([1])],
  'an asynchronous generator': ['async def g():\n    yield 1\nreturn g()', fails('OUTPUT_INVALID', /async_generator/)],
  'a coroutine': ['async def c():\n    return 7\nreturn c()', ok(7)],
  'a coroutine of a coroutine': ['async def a():\n    return 1\nasync def c():\n    return a()\nreturn c()', fails('OUTPUT_INVALID', /coroutine/)],
  'a thread that goes on': ['import threading\nthreading.Thread(target=lambda: time.sleep(3600)).start()\nreturn 1', ok(1)],
  'a thread that prints for ever': ['import threading\ndef work():\n    while True: print("x" * 100, flush=True)\nthreading.Thread(target=work).start()\nreturn 1', ok(1)],
  'an exit handler that hangs': ['import atexit\natexit.register(lambda: time.sleep(3600))\nreturn 1', ok(1)],
  'an object that ends the process when it goes': ['class D:\n    def __del__(self): os._exit(3)\nd = D()\nreturn 1', fails('TOOL_FAILED', /exit status 3/)],
  'a huge integer': ['return {"a": [1 << 30_000_000]}', fails('OUTPUT_INVALID', /\/a\/0 is an integer too large/)],
  'a list that holds itself': ['a = []\na.append(a)\nreturn a', fails('OUTPUT_INVALID', /contains itself/)],
  'a hundred thousand lists': ['a = []\nfor _ in range(100_000): a = [a]\nreturn a', fails('OUTPUT_INVALID', /nested deeper/)],
  'a text that lies': ['class S(str):\n    def __str__(self): return "lie"\n    def __len__(self): return 0\nreturn S("truth")', ok('truth')],
  'an integer that lies': ['class I(int):\n    def __repr__(self): return "}"\n    __str__ = __repr__\nreturn I(5)', ok(5)],
  'a number that lies': ['class F(float):\n    def __repr__(self): return "}"\nreturn F(5.5)', ok(5.5)],
  'a dictionary that fails': ['class D(dict):\n    def items(self): raise ValueError("no")\nreturn D(a=1)', fails('OUTPUT_INVALID', /ValueError: no/)],
  'an object of another class than it says': ['class X:\n    __class__ = property(lambda self: dict)\nreturn X()', fails('OUTPUT_INVALID', /JSON/)],
  'an exception without a text': ['class E(Exception):\n    def __str__(self): raise ValueError("x")\nraise E()', fails('TOOL_FAILED', /cannot be shown/)],
  'an exception that is its own cause': ['e = ValueError("x")\ne.__cause__ = e\nraise e', fails('TOOL_FAILED', /ValueError: x/)],
  'an end of the interpreter': ['sys.exit({"a": 1})', fails('TOOL_FAILED', /SystemExit/)],
  'recursion without end': ['def f(): return f()\nreturn f()', fails('TOOL_FAILED', /RecursionError/)],
  'closed descriptors': ['os.closerange(0, 256)\nreturn 1', fails('TOOL_FAILED', /exit status/)],
  'descriptors in the place of its connection': ['for at in range(3, 20):\n    try: os.dup2(1, at)\n    except OSError: pass\nreturn 1', fails('TOOL_FAILED', /exit status/)],
  'outputs that fail': ['class O:\n    def write(self, *a): raise ValueError("w")\n    flush = write\nsys.stdout = sys.stderr = O()\nreturn 2', ok(2)],
  'two answers': ['os.fork()\nreturn 1', ok(1)]
}

void t.test('whatever a Python tool does to the processes that run it, its call has a defined end, and the next call is served', { skip }, async t => {
  const host = await boxedPython(t)
  let at = 0
  for (const [what, [body, outcome]] of Object.entries(variants)) t.match(await host.execute(`variant${at++}`, body), outcome, what)
  t.match(await host.execute('plain', 'return 1'), ok(1))
})
