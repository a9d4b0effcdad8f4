import { cpSync, linkSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { boxed as python3InBox, errorOf, outputOf } from '../python/fixture.ts'
import { boxedPython, type BoxedPython } from '../sandbox/boxed-python.ts'
import { waitFor } from '../support/condition.ts'
import { writeFiles } from '../support/files.ts'

const skip = python3InBox.skip
/** Reads every file below the Python root and the workspace, also by the names that are given, and returns those that hold a secret. */
const look = `
def secrets():
    places = [os.path.dirname(__file__), os.getcwd()]
    paths = [os.path.join(place, name) for top in places for place, _, names in os.walk(top, followlinks=True) for name in names]
    found = []
    for path in [*paths, *given.get("paths", [])]:
        try: text = open(path).read()
        except (OSError, UnicodeDecodeError): continue
        if "SECRET" + "=" in text: found.append(os.path.basename(path))
    return sorted(set(found))
`.trim()
/** Each change of the Python root takes a new host. */
t.setTimeout(120_000)
const secret = 'SECRET=1\n'
const hidden = ['root/.env', 'root/.toolyard', 'root/.toolyard/audit', 'root/secrets/token']

/** As an editor does, and Toolyard's own writing of keys. */
function replace (file: string, text = secret): void {
  writeFileSync(`${file}.draft`, text)
  renameSync(`${file}.draft`, file)
}

function put (base: string, path: string, text = secret): string {
  return join(writeFiles(base, { [path]: text }), path)
}

async function seen (tools: BoxedPython, paths: string[] = []): Promise<unknown> {
  return outputOf(await tools.execute('look', `${look}\nreturn secrets()`, { permissions: [], arguments: { paths } }))
}

void t.test('fault 13 files of the service in a Python root are not in the box, nested or made later', { skip }, async t => {
  const tools = await boxedPython(t, { hidden })
  const files = hidden.map(path => join(tools.base, path === 'root/.toolyard' ? `${path}/data` : path === 'root/.toolyard/audit' ? `${path}/day` : path))
  t.strictSame(await seen(tools, files), [], 'before any is there')
  for (const file of files) put('/', file)
  t.strictSame(await seen(tools, files), [], 'made after the host has started')
  for (const like of ['.env.local', '.env.123.tmp', '.env~', '.env.swp', '..env.swp', '#.env#', 'secrets/token~', 'secrets/.token.swp']) put(tools.root, like)
  t.strictSame(await seen(tools, files), [], 'drafts and copies beside it')
  put(tools.root, 'package/data.txt', 'SECRET=of the tool')
  t.strictSame(await seen(tools, files), ['data.txt'], 'what is the tool\'s own is there')
})

void t.test('fault 13 a hostile Python tool reads no file of the service in its root, neither while it is imported nor when it is called', { skip }, async t => {
  const tools = await boxedPython(t, { hidden, workspace: 'root/workspace' })
  cpSync(join(import.meta.dirname, '../../../samples/hostile/tools'), join(tools.root, 'tools'), { recursive: true })
  const files = ['.env', '.env.local', '.toolyard/data', '.toolyard/audit/day', 'secrets/token'].map(path => put(tools.root, path))
  const run = async (): Promise<{ tried: number, reached: string[] }> => outputOf(await tools.call({ module: 'tools.hostile', className: 'Escape', arguments: { secrets: files } })) as { tried: number, reached: string[] }
  const first = await run()
  t.ok(first.tried > 100, 'it tried everything')
  t.strictSame(first.reached, [])
  replace(join(tools.root, '.env'))
  t.strictSame((await run()).reached, [])
})

void t.test('fault 13 a call doesn\'t see a file of the service that is replaced while it runs', { skip }, async t => {
  const tools = await boxedPython(t, { hidden })
  const file = put(tools.base, 'root/.env')
  t.strictSame(await seen(tools), [])
  const body = `${look}\nprint("up")\nwhile not os.path.exists("go"): time.sleep(0.01)\nreturn secrets()`
  const run = tools.execute('waits', body, { arguments: { paths: [file] } })
  await waitFor('the call runs', () => tools.logged.includes('up'))
  replace(file)
  writeFileSync(join(tools.workspace, 'go'), '')
  t.strictSame(outputOf(await run), [], 'a call that runs')
  t.strictSame(await seen(tools, [file]), [], 'a call of the host that was there')
})

void t.test('fault 13 symbolic and hard links to a file of the service lead nowhere', { skip }, async t => {
  const tools = await boxedPython(t, { hidden: ['root/.env', 'settings'] })
  put(tools.root, 'config/production.env')
  put(tools.root, 'data/deep/own', 'own')
  symlinkSync('config/current', join(tools.root, '.env'))
  symlinkSync('production.env', join(tools.root, 'config/current'))
  symlinkSync('../.env', join(tools.root, 'data/link'))
  t.strictSame(await seen(tools), [], 'the service\'s file is a link into the root')
  replace(join(tools.root, 'config/current'))
  t.strictSame(await seen(tools), ['production.env'], 'the link on its way became a file; what it led to is no file of the service any more')
  const outside = put(tools.base, 'settings')
  linkSync(outside, join(tools.root, 'beside'))
  linkSync(outside, join(tools.root, 'data/deep/second'))
  symlinkSync(outside, join(tools.root, 'data/deep/outside'))
  t.strictSame(await seen(tools, [outside]), ['production.env'], 'hard links')
})

void t.test('a Python root that holds the service is shown as it is now', { skip }, async t => {
  const tools = await boxedPython(t, { hidden, workspace: 'root/workspace' })
  put(tools.root, '.env')
  put(tools.root, 'workspace/file', 'of the workspace')
  const body = 'import helper, package.part\nreturn [helper.text, package.part.text, sorted(os.listdir()), sorted(os.listdir(os.path.dirname(__file__)))]'
  put(tools.root, 'helper.py', 'text = "one"')
  put(tools.root, 'package/part.py', 'text = "part"')
  const entries = ['helper.py', 'package', 'secrets', 'tool.py', 'workspace']
  put(tools.root, 'secrets/public', 'open')
  t.strictSame(outputOf(await tools.execute('tool', body, { permissions: [] })), ['one', 'part', [], entries])
  t.strictSame(outputOf(await tools.call({ permissions: ['read_repo'] })), ['one', 'part', ['file'], entries])
  replace(join(tools.root, 'helper.py'), 'text = "two"')
  put(tools.root, 'new.py', '')
  t.strictSame(outputOf(await tools.call({ permissions: ['write_files'] })), ['two', 'part', ['file'], [...entries.slice(0, 1), 'new.py', ...entries.slice(1)]])
  t.match(errorOf(await tools.execute('writes', 'open(os.path.join(os.path.dirname(__file__), "made"), "w")', { permissions: ['write_files'] })), /Read-only file system/)
})

void t.test('fault 13 a workspace that will hold files of the service shows the rest and can\'t be written, also before they exist', { skip }, async t => {
  const tools = await boxedPython(t, { hidden: ['workspace/.env', 'workspace/.toolyard'] })
  put(tools.workspace, 'file', 'content')
  t.match(errorOf(await tools.execute('opens', 'return open("file").read()', { permissions: ['write_files'] })), /^SANDBOX_FAILED: .*the workspace holds files of the service \(\.env\)/)
  put(tools.workspace, '.env')
  put(tools.workspace, '.toolyard/data')
  t.equal(outputOf(await tools.call({ module: 'opens' })), 'content')
  t.strictSame(outputOf(await tools.execute('look', `${look}\nreturn secrets()`)), [])
})

void t.test('fault 13 a Python root that holds the home directory of the worker\'s user is refused', { skip }, async t => {
  const tools = await boxedPython(t)
  for (const root of [homedir(), dirname(homedir())]) t.match(errorOf(await tools.call({ root })), /^SANDBOX_FAILED: .*the Python root .* holds .*give the tools a directory of their own/)
})
