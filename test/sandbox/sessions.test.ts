import type { Outcome, SessionPlace } from '@toolyard/executors'
import type { Permission } from '@toolyard/manifests'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedPython } from './boxed-python.ts'
import { boxedTools, withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()
const ids = ['11111111-1111-7111-8111-111111111111', '22222222-2222-7222-8222-222222222222']
const both: readonly Permission[] = ['read_repo', 'write_files']

/** Two sessions beside a workspace, each with a file of its own. */
function laySessions (base: string): SessionPlace[] {
  writeFileSync(join(base, 'workspace/of-workspace'), 'workspace')
  return ids.map((id, index) => {
    const dir = join(base, 'sessions', id)
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, 'secret'), `secret ${index}`)
    return { id, dir }
  })
}

void t.test('a command in a session has the session\'s directory as workspace, and sees nothing of another session', { skip }, async t => {
  const tools = await boxedTools(t)
  const [one, two] = laySessions(tools.base)
  if (one === undefined || two === undefined) throw new Error('no sessions')
  t.equal(outputOf(await tools.shell('pwd; ls; cat secret', { session: one, permissions: both })), `${tools.workspace}\nsecret\nsecret 0`)
  t.match(await tools.shell('touch more', { session: one }), { ok: false, error: { message: /Read-only/ } })
  t.same(outputOf(await tools.shell('ls', { session: one, permissions: [] })), {})
  for (const way of [`/proc/*/ro?t${two.dir}/secret`, `${two.dir}/secret`, '../sessions/*/secret', '/proc/*/cwd/../sessions/*/secret', `${tools.base}/*`, '/.toolyard-sessions/*/*']) {
    t.notMatch(await tools.shell(`cat ${way} 2>/dev/null; ls -R ${way} 2>/dev/null`, { session: one, permissions: both }), { output: /secret 1/ }, way)
  }
  t.match(await tools.shell(`ln -s ${two.dir}/secret link; cat link`, { session: one, permissions: both }), { ok: false })
  t.match(await tools.shell(`ln ${two.dir}/secret hard`, { session: one, permissions: both }), { ok: false })
  t.match(await tools.shell('ls secret', { permissions: both }), { ok: false }, 'without a session there is the workspace')
})

void t.test('a Python tool in a session has the session\'s directory as workspace, and sees nothing of another session', { skip }, async t => {
  const python = await boxedPython(t)
  const [one, two] = laySessions(python.base)
  if (one === undefined || two === undefined) throw new Error('no sessions')
  const run = async (body: string, session: SessionPlace, permissions = both): Promise<Outcome> => await python.execute('look', body, { session, permissions })
  t.same(outputOf(await run('return [os.getcwd(), sorted(os.listdir(".")), open("secret").read()]', one)), [python.workspace, ['secret'], 'secret 0'])
  t.same(outputOf(await run('open("made", "w").write("x"); return sorted(os.listdir("."))', two)), ['made', 'secret'])
  t.equal(readFileSync(join(two.dir, 'made'), 'utf8'), 'x')
  t.notOk(existsSync(join(one.dir, 'made')))
  t.match(await run('open("more", "w")', one, ['read_repo']), { ok: false, error: { message: /Read-only/ } })
  t.same(outputOf(await run('return os.listdir(".")', one, [])), [])
  t.same(outputOf(await python.execute('look', 'return [sorted(os.listdir(".")), os.path.exists("/.toolyard-sessions/' + ids[0] + '")]', { permissions: both })), [['of-workspace'], false])
})

void t.test('a Python tool finds no way to another session, nor does its module while it is imported', { skip }, async t => {
  const python = await boxedPython(t)
  const [one, two] = laySessions(python.base)
  if (one === undefined || two === undefined) throw new Error('no sessions')
  const search = `import ctypes, glob
def ways():
    found = []
    for pattern in ['/proc/*/ro?t${two.dir}/*', '/proc/*/ro?t/.toolyard-sessions/*/*', '/.toolyard-sessions/*/*', '${python.base}/*/*/*', '/proc/*/cwd/../*/*/*', '/proc/*/fd/*/secret']:
        found += glob.glob(pattern)
    libc = ctypes.CDLL(None, use_errno=True)
    for place in ['/.toolyard-sessions', '${python.workspace}']:
        found += ['umount ' + place] * (libc.umount2(place.encode(), 2) == 0)
        tree = libc.syscall(428, -100, place.encode(), 1)
        found += ['open_tree ' + place] * (tree >= 0)
    return [each for each in found if 'secret' in each or ' ' in each]
at_import = ways()
`
  writeFileSync(join(python.root, 'search.py'), search)
  const body = 'import search\nhere = search.ways()\nreturn [search.at_import, here, open("secret").read()]'
  for (const [index, session] of [one, two].entries()) {
    t.same(outputOf(await python.execute('seek', body, { session, permissions: both })), [[], [], `secret ${index}`])
  }
})

void t.test('many calls at once each have the directory of their own session', { skip }, async t => {
  const python = await boxedPython(t)
  const sessions = laySessions(python.base)
  const calls = Array.from({ length: 30 }, () => sessions).flat()
  const body = 'return open("secret").read()'
  const first = python.execute('look', body, { permissions: both })
  const outcomes = await Promise.all(calls.map(async session => await python.call({ module: 'look', session, permissions: both })))
  await first
  t.same(outcomes.map(outcome => outcome.ok ? outcome.output : outcome.error), calls.map(({ id }) => `secret ${ids.indexOf(id)}`))
})
