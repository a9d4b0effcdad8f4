import t from 'tap'
import { createFixture, python } from './fixture.ts'

t.test('X34 AC21 each call is a line of the audit: what ran and how it ended, without its arguments', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'class Sample(Tool):\n    def execute(self, secret):\n        print("12345")\n        return "x" * 8\nclass Failing(Tool):\n    def execute(self): raise ValueError')
  await fixture.run({ arguments: { secret: 'hunter2' }, jobId: 'job-7' })
  await fixture.run({ className: 'Failing' })
  await fixture.run({ module: 'absent' })
  await fixture.execute('time.sleep(60)', { timeoutMs: 1_000 })
  await fixture.execute('os.kill(os.getpid(), signal.SIGKILL)')
  const lines = await fixture.auditLines()
  t.match(lines[0], { tool: 'sample', job: 'job-7', argv: [/^\/.*python/, 'tool'], cwd: fixture.workspace, exit: 0, ms: Number, stdoutBytes: 10, stderrBytes: 6, truncated: false })
  t.match(lines[1], { argv: [/^\/.*python/, 'tool:Failing'], exit: 1, stdoutBytes: 0 })
  t.match(lines[2], { exit: -1, error: /^module 'absent' does not import/ })
  t.match(lines[3], { exit: -1 })
  t.match(lines[4], { exit: -1 })
  t.equal(lines.length, 5)
  t.notMatch(JSON.stringify(lines), /hunter2/)
})
