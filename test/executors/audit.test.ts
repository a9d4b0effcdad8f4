import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openAudit, type Audit, type AuditEntry, type AuditOptions } from '@toolyard/executors'
import { createFixture, outputOf } from './fixture.ts'
import { waitFor } from '../support/condition.ts'

function entry (fields: Partial<AuditEntry> = {}): AuditEntry {
  return { at: new Date(), tool: 'get_time', job: 'job-1', argv: ['/bin/date'], cwd: '/w', exit: 0, ms: 5, stdoutBytes: 1, stderrBytes: 0, truncated: false, envKeys: [], ...fields }
}

function open (
  t: Test, options: Partial<AuditOptions> = {}
): { audit: Audit, dir: string, errors: unknown[], lines: (file?: string) => string[] } {
  const dir = options.dir ?? join(t.testdir(), 'deep', 'audit')
  const errors: unknown[] = []
  const audit = openAudit({ dir, redact: '', secrets: [], onError: error => errors.push(error), ...options })
  const lines = (file = readdirSync(dir)[0] ?? ''): string[] => readFileSync(join(dir, file), 'utf8').trimEnd().split('\n')
  return { audit, dir, errors, lines }
}

t.test('AC21 X34 a run leaves one line with the documented fields and its job', async t => {
  const fixture = createFixture(t, { env: { PATH: process.env['PATH'], TZ: 'UTC' } })
  await fixture.runShell('echo hello; echo abc >&2', { jobId: 'job-7', keyName: 'tester', envPassthrough: ['TZ', 'MISSING'] })
  const lines = await fixture.auditLines()
  t.equal(lines.length, 1)
  t.same(Object.keys(lines[0] ?? {}), ['ts', 'tool', 'job', 'argv', 'cwd', 'exit', 'ms', 'stdoutBytes', 'stderrBytes', 'truncated', 'envKeys', 'key', 'permissions', 'sandbox', 'argumentsSha256'])
  t.match(lines[0], {
    ts: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/,
    tool: 'sample',
    job: 'job-7',
    argv: ['/bin/sh', '-c', 'echo hello; echo abc >&2'],
    cwd: fixture.workspace,
    exit: 0,
    ms: Number,
    stdoutBytes: 6,
    stderrBytes: 4,
    truncated: false,
    envKeys: ['TZ'],
    key: 'tester',
    permissions: [],
    sandbox: 'none',
    // Of `{}`.
    argumentsSha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
  })
})

t.test('AC21 exit is the code, or -1 for a signal, a timeout or a cancel; truncated marks a cut', async t => {
  const fixture = createFixture(t, { maxOutputBytes: 1_024 })
  const cancel = new AbortController()
  await fixture.runShell('exit 3')
  await fixture.runShell('kill -9 $$')
  await fixture.runShell('exec sleep 60', { timeoutMs: 100 })
  const cancelled = fixture.runShell('touch began; exec sleep 60', { signal: cancel.signal })
  await waitFor('its process runs', () => existsSync(join(fixture.workspace, 'began')))
  cancel.abort()
  await cancelled
  await fixture.runShell('head -c 2000 /dev/zero')
  const lines = await fixture.auditLines()
  t.same(lines.map(line => line['exit']), [3, -1, -1, -1, 0])
  t.same(lines.map(line => line['truncated']), [false, false, false, false, true])
  t.ok(lines.every(line => !('envKeys' in line)), 'AC21 envKeys is omitted when there are none')
})

t.test('X34 a line of a tenant names it', async t => {
  const fixture = createFixture(t)
  await fixture.runShell('true', { keyName: 'acme-app', tenant: 'acme' })
  t.match(await fixture.auditLines(), [{ key: 'acme-app', tenant: 'acme' }])
})

t.test('X34 AC24 a process that could not be started leaves a line with the cause; a stdin that closes early leaves no cause', async t => {
  const fixture = createFixture(t)
  await fixture.run({ program: '/no/such/program' })
  await fixture.run({ program: '/bin/true', arguments: { text: 'x'.repeat(500_000) } })
  t.match(await fixture.auditLines(), [{ exit: -1, argv: ['/no/such/program'], error: /no such file/ }, { exit: 0, argv: ['/bin/true'] }])
})

t.test('A25 A26 AC23 the line has the names of variables, and never values, arguments, stdin or outputs', async t => {
  const fixture = createFixture(t, { env: { PATH: process.env['PATH'], TOKEN: 'value-of-token' } })
  await fixture.runShell('cat; cat >&2; echo "$TOKEN"; exit 1', { envPassthrough: ['TOKEN'], arguments: { text: 'the-argument' } })
  const text = JSON.stringify(await fixture.auditLines())
  t.match(text, /"envKeys":\["TOKEN"\]/)
  t.notMatch(text, /value-of-token|the-argument/)
})

t.test('AC22 the file is named after the UTC date and appended to; a new day is a new file', async t => {
  const { audit, dir, lines } = open(t)
  audit.record(entry({ at: new Date('2026-02-28T23:59:59.999Z') }))
  audit.record(entry({ at: new Date('2026-03-01T00:00:00.000Z') }))
  await audit.flush()
  audit.record(entry({ at: new Date('2026-03-01T12:00:00.000Z') }))
  await audit.flush()
  t.same(readdirSync(dir), ['20260228.log', '20260301.log'])
  t.equal(lines('20260228.log').length, 1)
  t.equal(lines('20260301.log').length, 2)
})

t.test('AC22 the file is 0644 and its directories 0755, less the umask', async t => {
  const { audit, dir } = open(t)
  audit.record(entry())
  await audit.flush()
  const mask = process.umask()
  t.equal(statSync(join(dir, readdirSync(dir)[0] ?? '')).mode & 0o777, 0o644 & ~mask)
  t.equal(statSync(dir).mode & 0o777, 0o755 & ~mask)
})

t.test('AC22 lines of a thousand runs are whole and in order', async t => {
  const { audit, lines } = open(t)
  for (let ms = 0; ms < 1_000; ms++) audit.record(entry({ ms }))
  await audit.flush()
  t.same(lines().map(line => (JSON.parse(line) as AuditEntry).ms), Array.from({ length: 1_000 }, (_, ms) => ms))
})

t.test('AC22 an audit that fails is reported once for each run of failures, and throws nothing', async t => {
  const base = t.testdir({ audit: 'a file where a directory should be' })
  const dir = join(base, 'audit')
  const { audit, errors } = open(t, { dir })
  const record = async (): Promise<void> => {
    audit.record(entry())
    await audit.flush()
  }
  await record()
  await record()
  t.equal(errors.length, 1)
  rmSync(dir)
  await record()
  t.ok(existsSync(dir), 'it recovers by itself')
  rmSync(dir, { recursive: true })
  writeFileSync(dir, '')
  await record()
  t.equal(errors.length, 2)
})

t.test('AC22 a call succeeds while its audit fails', async t => {
  const { audit, errors } = open(t, { dir: '/dev/null/audit' })
  const fixture = createFixture(t, { audit })
  t.equal((await fixture.runShell(':')).ok, true)
  await fixture.executors.close()
  t.equal(errors.length, 1)
})

t.test('AC23 patterns and secrets are redacted in argv, cwd and the cause of a failed start', async t => {
  const { audit, lines } = open(t, { redact: 'sk-[a-z0-9]+, [broken;/home/\\w+', secrets: ['hunter2', ''] })
  audit.record(entry({ argv: ['/bin/x', '--key=sk-abc123', 'hunter2hunter2', 'a [broken one'], cwd: '/home/ada/w', error: 'program hunter2' }))
  await audit.flush()
  t.match(JSON.parse(lines()[0] ?? ''), {
    argv: ['/bin/x', '--key=***REDACTED***', '***REDACTED******REDACTED***', 'a ***REDACTED*** one'],
    cwd: '***REDACTED***/w',
    error: 'program ***REDACTED***'
  })
})

t.test('AC23 patterns and secrets are redacted in the name of a host that a tool asked for', async t => {
  const { audit, lines } = open(t, { redact: 'sk-[a-z0-9]+', secrets: ['hunter2'] })
  audit.record(entry({ argv: ['egress', 'sk-123.hunter2.test:80'], egress: { host: 'sk-123.hunter2.test', port: 80, decision: 'denied', sentBytes: 0, receivedBytes: 0 } }))
  await audit.flush()
  t.match(JSON.parse(lines()[0] ?? ''), { argv: ['egress', '***REDACTED***.***REDACTED***.test:80'], egress: { host: '***REDACTED***.***REDACTED***.test', port: 80 } })
})

t.test('AC23 a secret that holds special characters is taken literally, the longest one first', async t => {
  const { audit, lines } = open(t, { secrets: ['a.b', 'a.b$&c'] })
  audit.record(entry({ argv: ['a.b$&c', 'axb'] }))
  await audit.flush()
  t.match(JSON.parse(lines()[0] ?? ''), { argv: ['***REDACTED***', 'axb'] })
})

t.test('AC23 a pattern that backtracks without end hides the whole text, is reported and blocks nothing', async t => {
  const { audit, lines, errors } = open(t, { redact: '(a+)+$' })
  const begun = performance.now()
  for (let i = 0; i < 20; i++) audit.record(entry({ argv: [`${'a'.repeat(60)}!`, 'plain'] }))
  await audit.flush()
  t.ok(performance.now() - begun < 5_000)
  t.match(JSON.parse(lines()[0] ?? ''), { argv: ['***REDACTED***', 'plain'] })
  t.equal(errors.length, 1, 'the result for a text is remembered')
})

t.test('AC23 a pattern that matches nothing in particular changes nothing', async t => {
  const { audit, lines } = open(t, { redact: 'x*' })
  audit.record(entry({ argv: ['abc'] }))
  await audit.flush()
  t.match(JSON.parse(lines()[0] ?? ''), { argv: ['abc'] })
})

t.test('the directory is made again when it was removed', async t => {
  const { audit, dir, lines } = open(t)
  mkdirSync(dir, { recursive: true })
  audit.record(entry())
  await audit.flush()
  rmSync(dir, { recursive: true })
  audit.record(entry())
  await audit.flush()
  t.equal(lines().length, 1)
})

t.test('lines that a slow disk cannot take are bounded, and their loss is reported', async t => {
  const { audit, errors, lines } = open(t)
  for (let i = 0; i < 10_005; i++) audit.record(entry())
  await audit.flush()
  t.equal(errors.length, 1)
  t.equal(lines().length, 10_001, 'one is already being written')
})

t.test('AC22 a full disk is reported, and fails no call', { skip: existsSync('/dev/full') ? false : 'there is no /dev/full' }, async t => {
  const dir = t.testdir()
  // Around midnight the day may change.
  const days = [0, 86_400_000].map(ms => new Date(Date.now() + ms).toISOString().slice(0, 10).replaceAll('-', ''))
  for (const day of days) symlinkSync('/dev/full', join(dir, `${day}.log`))
  const reported: unknown[] = []
  const audit = openAudit({ dir, redact: '', secrets: [], onError: error => { reported.push(error) } })
  const fixture = createFixture(t, { audit })
  t.equal(outputOf(await fixture.runShell('echo fine')), 'fine')
  await audit.flush()
  t.match(reported, [{ code: 'ENOSPC' }])
})

t.test('AC22 a line follows half of another one, which a full disk has left, on a line of its own', async t => {
  const dir = t.testdir()
  const { audit, lines } = open(t, { dir })
  const at = new Date('2026-05-01T12:00:00Z')
  writeFileSync(join(dir, '20260501.log'), '{"ts":"2026-')
  for (const ms of [1, 2]) {
    audit.record(entry({ at, ms }))
    await audit.flush()
  }
  const [half, ...whole] = lines()
  t.equal(half, '{"ts":"2026-')
  t.strictSame(whole.map(line => (JSON.parse(line) as AuditEntry).ms), [1, 2])
})
