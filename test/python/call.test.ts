import { join } from 'node:path'
import t from 'tap'
import { createFixture, errorOf, isBoxed, linuxPython, outputOf, python, toolClass } from './fixture.ts'
import { waitFor } from '../support/condition.ts'

t.test('what a tool prints goes to the log, line by line, and never into the result', python, async t => {
  const fixture = await createFixture(t)
  const body = 'print("one")\nprint("two", file=sys.stderr)\nos.write(1, b"three\\n")\nsubprocess.run(["echo", "four"])\nprint("fünf \\udc80", end="")\nreturn "result"'
  t.equal(outputOf(await fixture.execute(body)), 'result')
  t.same(fixture.logged, ['one', 'two', 'three', 'four', 'fünf \\udc80'])
})

t.test('lines are logged while the tool runs', python, async t => {
  const fixture = await createFixture(t)
  const run = fixture.execute('print("ready")\nwhile not os.path.exists("go"): time.sleep(0.01)\nreturn 1')
  await waitFor('the line is logged', () => fixture.logged.includes('ready'))
  t.equal(outputOf(await fixture.execute('open("go", "w")')), null)
  t.equal(outputOf(await run), 1)
})

t.test('a tool asks with what it returns, and has the answers when it runs again', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('asking.py', 'from toolyard import ask\nclass Asking(Tool):\n    def execute(self):\n        return self.answers or ask("Which?", {"type": "object"})')
  const tool = fixture.tool({ module: 'asking' })
  t.same(outputOf(await fixture.runTool(tool)), { $ask: { text: 'Which?', schema: { type: 'object' } } })
  const answers = ['{"seat":"aisle"}', '{"row":2}']
  t.same(outputOf(await fixture.runTool(tool, {}, { answers })), [{ seat: 'aisle' }, { row: 2 }])
})

t.test('async def execute is awaited, and so is any awaitable', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'class Slow(Tool):\n    async def execute(self, n):\n        await asyncio.sleep(0.01)\n        return n + 1')
  t.equal(outputOf(await fixture.run({ arguments: { n: 1 } })), 2)
  t.equal(outputOf(await fixture.execute('async def later(): return "later"\nreturn later()')), 'later')
  fixture.source('failing.py', 'class Slow(Tool):\n    async def execute(self):\n        raise LookupError("nothing")')
  t.equal(errorOf(await fixture.run({ module: 'failing' })), 'TOOL_FAILED: LookupError: nothing')
})

t.test('an exception is TOOL_FAILED with type and message, its traceback is in the log', python, async t => {
  const fixture = await createFixture(t)
  t.same(await fixture.execute('raise ValueError("no such repo")'), { ok: false, error: { code: 'TOOL_FAILED', message: 'ValueError: no such repo', details: { type: 'ValueError' } } })
  t.equal(fixture.logged[0], 'Traceback (most recent call last):')
  t.equal(fixture.logged[1], '  File "body_0.py", line 5, in execute', 'it starts in the tool, and its path in the Python root')
  t.equal(fixture.logged.at(-1), 'ValueError: no such repo')
  t.equal(errorOf(await fixture.execute('raise ValueError')), 'TOOL_FAILED: ValueError')
  t.equal(errorOf(await fixture.execute('raise KeyboardInterrupt')), 'TOOL_FAILED: KeyboardInterrupt')
  t.equal(errorOf(await fixture.execute('class Odd(Exception):\n    def __str__(self): raise Exception\nraise Odd')), 'TOOL_FAILED: Odd: <its message cannot be shown>')
  t.equal(errorOf(await fixture.execute('def again(): again()\nagain()')).slice(0, 27), 'TOOL_FAILED: RecursionError')
  t.equal(errorOf(await fixture.execute('raise ValueError("x" * 100_000)')).length, 'TOOL_FAILED: '.length + 8_192)
})

t.test('arguments that execute does not take are TOOL_FAILED with the text of Python', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'class Sample(Tool):\n    def execute(self, a): return a')
  t.match(errorOf(await fixture.run()), /^TOOL_FAILED: TypeError: .*execute\(\) missing 1 required positional argument: 'a'$/)
  t.match(errorOf(await fixture.run({ arguments: { a: 1, b: 2 } })), /^TOOL_FAILED: TypeError: .*execute\(\) got an unexpected keyword argument 'b'$/)
})

t.test('a tool that ends its process fails that call alone', python, async t => {
  const fixture = await createFixture(t)
  const endings: Array<[body: string, message: string]> = [
    ['sys.exit(3)', 'exit status 3'],
    ['sys.exit()', 'exit status 0'],
    ['sys.exit(-1)', 'exit status 255'],
    ['sys.exit("why")', 'SystemExit: why'],
    ['os._exit(4)', 'exit status 4'],
    ['os.kill(os.getpid(), signal.SIGSEGV)', 'signal: SIGSEGV'],
    ['os.kill(os.getpid(), signal.SIGKILL)', 'signal: SIGKILL'],
    ['os.abort()', 'signal: SIGABRT'],
    ['os.execlp("sh", "sh", "-c", "exit 5")', 'exit status 5']
  ]
  const beside = fixture.execute('while not os.path.exists("go"): time.sleep(0.01)\nreturn "unharmed"')
  for (const [body, message] of endings) t.equal(errorOf(await fixture.execute(body)), `TOOL_FAILED: ${message}`, body)
  t.equal(outputOf(await fixture.execute('open("go", "w")')), null)
  t.equal(outputOf(await beside), 'unharmed')
})

t.test('X16 a tool that returns success: false is ok', python, async t => {
  const fixture = await createFixture(t)
  t.same(await fixture.execute('return {"success": False, "error": "no repo"}'), { ok: true, output: { success: false, error: 'no repo' } })
})

t.test('X19 a tool runs in the workspace, also when its module has changed the directory', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'os.chdir("/")\nclass Sample(Tool):\n    def execute(self): return os.getcwd()')
  t.equal(outputOf(await fixture.run()), join(fixture.workspace))
})

t.test('fault 19 a tool has an empty stdin, two outputs and its connections, and no other descriptor', linuxPython, async t => {
  const fixture = await createFixture(t)
  const body = 'links = {}\nfor name in os.listdir("/proc/self/fd"):\n    try: links[name] = os.readlink(f"/proc/self/fd/{name}")\n    except FileNotFoundError: pass\nreturn [sys.stdin.read(), links]'
  const [stdin, links] = outputOf(await fixture.execute(body)) as [string, Record<string, string>]
  t.equal(stdin, '')
  const { 0: input, 1: out, 2: err, ...rest } = links
  t.equal(input, '/dev/null')
  const kind = isBoxed ? /^pipe:/ : /^socket:/
  t.match(out, kind)
  t.equal(err, out)
  t.match(Object.values(rest), isBoxed ? [kind, kind] : [kind])
  t.equal(Object.keys(rest).length, isBoxed ? 2 : 1)
})

t.test('a tool leads a session of its own', python, async t => {
  const fixture = await createFixture(t)
  t.equal(outputOf(await fixture.execute('return os.getsid(0) == os.getpid() and os.getpgid(0) == os.getpid()')), true)
})

t.test('a process that the tool forked and that also returns from execute gives no second answer', python, async t => {
  const fixture = await createFixture(t)
  t.equal(outputOf(await fixture.execute('child = os.fork()\nif child == 0: return "child"\nos.waitpid(child, 0)\nreturn "parent"')), 'parent')
})

t.test('calls that wait for the processes of many others are served, though these take longer together than a stuck one may', linuxPython, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', `fork = os.fork
def slowly():
    time.sleep(1.2)
    return fork()
os.fork = slowly
${toolClass('return arguments["n"]')}`)
  const outcomes = await Promise.all(Array.from({ length: 10 }, (_, n) => fixture.run({ arguments: { n } })))
  t.same(outcomes.map(outputOf), outcomes.map((_, n) => n))
})

t.test('many calls at once get their own answers', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'class Sample(Tool):\n    def execute(self, n):\n        print(f"line {n}")\n        return "x" * 10_000 + str(n)')
  const logs = new Map<number, string[]>()
  const outcomes = await Promise.all(Array.from({ length: 24 }, async (_, n) => {
    logs.set(n, [])
    return await fixture.run({ arguments: { n }, log: line => { logs.get(n)?.push(line) } })
  }))
  t.same(outcomes.map(outcome => String(outputOf(outcome)).slice(10_000)), outcomes.map((_, n) => String(n)))
  t.same([...logs.values()], outcomes.map((_, n) => [`line ${n}`]))
})
