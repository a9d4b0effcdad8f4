import type { Outcome, SessionPlace } from '@toolyard/executors'
import type { Permission } from '@toolyard/manifests'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { python } from '../python/fixture.ts'
import { boxedPython } from '../sandbox/boxed-python.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { waitFor } from '../support/condition.ts'
import { setUpTarget, type Target } from './target.ts'

/* What hostile tools in a session try on another session that is there at the same time. */

t.setTimeout(300_000)
const hostile = join(import.meta.dirname, '../../../samples/hostile')
const skip = await withoutBox()
const both: readonly Permission[] = ['read_repo', 'write_files']

interface Report {
  tried: number
  reached: string[]
}

/** A session, and another one with a secret, beside a workspace that has one too. */
interface Neighbours {
  own: SessionPlace
  other: SessionPlace
  given: Target['given']
  /** Fails where something of the other session, or of the workspace, was changed. */
  areUntouched: (t: Test) => void
}

async function lay (t: Test, base: string): Promise<Neighbours> {
  const target = await setUpTarget(t)
  const [own, other] = ['11111111-1111-7111-8111-111111111111', '22222222-2222-7222-8222-222222222222'].map(id => ({ id, dir: join(base, 'sessions', id) }))
  if (own === undefined || other === undefined) throw new Error('no sessions')
  for (const [dir, text] of [[own.dir, 'own'], [other.dir, 'of the other'], [join(base, 'workspace'), 'of the workspace']] as const) {
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, text === 'own' ? 'mine' : 'secret'), text)
  }
  const guesses = [other.dir, join(base, 'sessions'), join(own.dir, '..', other.id), `../${other.id}`, `../sessions/${other.id}`, `/.toolyard-sessions/${other.id}`]
  const secrets = guesses.map(dir => join(dir, 'secret'))
  return {
    own,
    other,
    given: {
      ...target.given,
      // In the box the own session is at the place of the workspace, and has no such file.
      secrets: [...target.given.secrets, ...secrets, join(base, 'workspace/secret'), join(base, 'sessions'), '/.toolyard-sessions'],
      outside: [...target.given.outside, ...secrets, ...guesses.map(dir => join(dir, 'planted-here'))],
      links: join(other.dir, 'secret')
    },
    areUntouched (t) {
      for (const [dir, text] of [[other.dir, 'of the other'], [join(base, 'workspace'), 'of the workspace']] as const) {
        t.same(readdirSync(dir), ['secret'])
        t.equal(readFileSync(join(dir, 'secret'), 'utf8'), text)
      }
      t.equal(readFileSync(target.secret, 'utf8'), 'secret')
    }
  }
}

void t.test('fault 12 fault 13 fault 14 fault 17 a hostile command in a session reaches neither another session nor the workspace', { skip }, async t => {
  const tools = await boxedTools(t)
  const { own, given, areUntouched } = await lay(t, tools.base)
  for (const permissions of [['read_repo'] as const, both]) {
    const report = outputOf(await tools.run({ program: join(hostile, 'tools/bin/escape.py'), permissions, session: own, arguments: { ...given } })) as Report
    t.ok(report.tried > 60, 'it tried everything')
    t.strictSame(report.reached, [])
  }
  areUntouched(t)
  // The links that it left are no way for the next call.
  t.match(await tools.shell('cat planted planted-directory/secret; echo over > planted', { session: own, permissions: both }), { ok: false })
  areUntouched(t)
})

void t.test('fault 12 fault 13 fault 14 fault 17 a hostile Python tool in a session reaches neither another session nor the workspace', { skip: python.skip || skip }, async t => {
  const tools = await boxedPython(t)
  const { own, given, areUntouched } = await lay(t, tools.base)
  for (const permissions of [['read_repo'] as const, both]) {
    const call = { root: hostile, module: 'tools.hostile', className: 'Escape', permissions, session: own, arguments: { ...given } }
    const report = outputOf(await tools.call(call)) as Report
    t.ok(report.tried > 60, 'it tried everything')
    t.strictSame(report.reached, [])
  }
  areUntouched(t)
})

/** A call looks for others that run: their processes, and whatever leads from them to files. */
const seek = `import glob, os
def found():
    pids = {pid for pid in os.listdir("/proc") if pid.isdigit()} - {"1", str(os.getpid()), str(os.getppid())}
    belows = ["ro?t/*/*/*/*", "ro?t/.toolyard-sessions/*", "cwd", "cwd/../*", "fd/*"]
    ways = [way for pid in sorted(pids | {"1", "self"}) for below in belows for way in glob.glob(f"/proc/{pid}/{below}/secret")]
    reached = []
    for pid in range(2, 400):
        if str(pid) in (str(os.getpid()), str(os.getppid())): continue
        try:
            os.kill(pid, 0)
            reached.append(pid)
        except OSError:
            pass
    return [sorted(pids), ways, reached]
`

/** Runs a call in the other session until one in the own has looked for it. */
async function besides (other: SessionPlace, stay: () => Promise<Outcome>, look: () => Promise<unknown>): Promise<unknown> {
  const staying = stay()
  await waitFor('the other call runs', () => existsSync(join(other.dir, 'up')))
  const answer = await look()
  writeFileSync(join(other.dir, 'go'), '')
  outputOf(await staying)
  return answer
}

void t.test('a command finds nothing of a call that runs in another session at the same time', { skip: python.skip || skip }, async t => {
  const tools = await boxedTools(t)
  const { own, other } = await lay(t, tools.base)
  const program = tools.program('seek', `#!/usr/bin/python3\n${seek}\nimport json\nprint(json.dumps(found()))\n`)
  const stay = async (): Promise<Outcome> => await tools.shell('touch up; while [ ! -e go ]; do sleep 0.05; done', { session: other, permissions: both })
  t.same(await besides(other, stay, async () => outputOf(await tools.run({ program, session: own, permissions: both }))), [[], [], []])
})

void t.test('a Python call finds nothing of one of the same module that runs in another session at the same time', { skip: python.skip || skip }, async t => {
  const tools = await boxedPython(t)
  const { own, other } = await lay(t, tools.base)
  writeFileSync(join(tools.root, 'seek.py'), seek)
  const body = 'import seek\nif given.get("stays"):\n    open("up", "w").close()\n    while not os.path.exists("go"): time.sleep(0.05)\nreturn seek.found()'
  const call = async (session: SessionPlace, stays: boolean): Promise<Outcome> => await tools.execute('look', body, { session, permissions: both, arguments: { stays } })
  t.match(await besides(other, async () => await call(other, true), async () => outputOf(await call(own, false))), [[], [], []])
})
