import fc from 'fast-check'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printable } from '@toolyard/runtime'
import t, { type Test } from 'tap'
import { python } from '../python/fixture.ts'
import { toolyardProgram as program } from '../cli/toolyard.ts'
import { anyCharacter } from '../support/any-character.ts'

const root = join(import.meta.dirname, '../../..')
t.setTimeout(180_000)

/** Sets the title, clears the screen, and the same with the one character that begins such a sequence in eight bits. */
const hostile = 'x\u001b]0;title\u0007\u001b[2J\u009b2J\r\u007f\u202ey'
// eslint-disable-next-line no-control-regex -- control characters and marks of direction, which a terminal would obey
const commands = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/

function directoryWith (t: Test, files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-foreign-'))
  t.teardown(() => { rmSync(directory, { recursive: true }) })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  return directory
}

function run (directory: string, ...args: string[]): string {
  return runWith({}, directory, ...args)
}

function runWith (env: Record<string, string>, directory: string, ...args: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: directory, env: { PATH: process.env['PATH'], HOME: '/nonexistent', TOOL_MANIFESTS: 'tools.json', ...env }, encoding: 'utf8' })
  return stdout + stderr
}

const tools = JSON.stringify({ tools: [{ name: `bad ${hostile}`, description: hostile, command: [`/missing/${hostile}`] }, { name: 'good', description: `good ${hostile}`, command: ['/bin/true', hostile] }] })
const raising = `from toolyard import Tool\n\nclass Raises(Tool):\n    def __init__(self, *given):\n        raise RuntimeError(${JSON.stringify(hostile)})\n\n    def execute(self):\n        return None\n`
const pythonManifest = JSON.stringify({ schema_version: '1.0', metadata: { name: 'python', description: hostile }, tools: [{ name: 'raises', description: 'Raises', module: 'raises', permissions: [] }] })

void t.test('no text of a manifest acts as a command of the terminal', async t => {
  const directory = directoryWith(t, { 'tools.json': tools })
  for (const args of [['validate', 'tools.json'], ['validate', '--json', 'tools.json'], ['validate', hostile], ['tools', 'list'], ['tools', 'list', '--json'], ['tools', 'show', 'good'], ['tools', 'show', hostile], ['tools', 'why', hostile], ['doctor'], [hostile], ['validate', `--${hostile}`]]) {
    const text = run(directory, ...args.map(arg => arg.replaceAll('\0', '')))
    t.not(text, '')
    t.notMatch(text, commands, JSON.stringify(args))
  }
  t.match(run(directory, 'validate', 'tools.json'), '0;title', 'it is told all the same')
  t.same(JSON.parse(run(directory, 'validate', '--json', 'tools.json')) instanceof Object, true)
})

void t.test('toolyard add shows words that a person can\'t see as escapes; emojis and joined letters stay', async t => {
  const tags = [...'pay me'].map(letter => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')
  const hidden = `Reads a file.${tags}\u200b\u2060\u200d\u200d\u200c\ufe0f\ufe01\u{e0100}`
  const seen = '\u2764\ufe0f\u200d\u{1f525} \u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u0645\u06cc\u200c\u062e \u0915\u094d\u200d\u0937 1\ufe0f\u20e3 é ü 漢'
  const directory = directoryWith(t, { 'given/tools.json': JSON.stringify({ tools: [{ name: 'read', description: hidden, command: ['/bin/true'] }, { name: 'fine', description: seen, command: ['/bin/true'] }] }) })
  const text = run(directory, 'add', './given', '--name', 'given')
  t.notMatch(text.replaceAll(seen, ''), /\p{Default_Ignorable_Code_Point}/u)
  t.match(text, 'Reads a file.\\udb40\\udc70\\udb40\\udc61')
  t.match(text, `fine: ${seen}`)
})

void t.test('no text of a manifest acts as a command of the CI that runs toolyard', async t => {
  const words = ['::set-output name=path::x', '\u00a0 ::add-mask::x', 'x ##[set-output name=path;]x', '###vso[task.setvariable variable=PATH]x', '##teamcity[setParameter name=\'env.PATH\']']
  const description = `Reads std::string, ${words.join(' ')}`
  const directory = directoryWith(t, { 'given/tools.json': JSON.stringify({ tools: [{ name: 'read', description, command: ['/bin/true'] }] }) })
  const obeyed = /^\s*::|##\w*\[/m
  const shown = (env: Record<string, string>): string => runWith(env, directory, 'add', './given', '--name', 'given')
  const listed = (env: Record<string, string>): string => runWith(env, directory, 'tools', '--openai', 'given/tools.json')
  const printed = (env: Record<string, string>): string => spawnSync(process.execPath, [
    '--input-type=module', '--eval', "import { printable } from '@toolyard/runtime'; console.log(printable(process.argv[1]))", words.join('\n')
  ], { cwd: root, env, encoding: 'utf8' }).stdout
  for (const name of ['GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION']) {
    for (const show of [shown, listed, printed]) {
      const text = show({ [name]: 'true' })
      t.notMatch(text, obeyed, name)
      t.match(text, ':set-output name=path::x')
    }
  }
  t.match(shown({ TF_BUILD: 'true' }), 'Reads std::string')
  t.same(JSON.parse(listed({ TF_BUILD: 'true' })), JSON.parse(listed({})), 'JSON is the same')
  t.match(shown({}), '###vso[task.setvariable variable=PATH]x', 'nowhere else are these commands')
  t.equal(printed({}), `${words.join('\n')}\n`)
  const long = spawnSync(process.execPath, [
    '--input-type=module', '--eval', "import { printable } from '@toolyard/runtime'; console.log(printable(' '.repeat(1_000_000) + '::x').slice(-8))"
  ], { cwd: root, env: { GITHUB_ACTIONS: 'true' }, encoding: 'utf8', timeout: 60_000 })
  t.equal(long.stdout, '\\u003a:x\n', 'white space takes no time that grows with its square')
})

void t.test('no exception of a tool acts as a command of the terminal', { skip: python.skip }, async t => {
  const directory = directoryWith(t, { 'manifest.json': pythonManifest, 'raises.py': raising })
  const text = run(directory, 'validate', '--import', 'manifest.json')
  t.match(text, 'title')
  t.notMatch(text, commands)
})

void t.test('printable text stays the same, and JSON keeps its value', async t => {
  await t.resolves(fc.assert(fc.asyncProperty(fc.string({ unit: anyCharacter }), async text => {
    const shown = printable(text)
    return !commands.test(shown) && printable(shown) === shown && JSON.parse(printable(JSON.stringify(text))) === text
  }), { numRuns: 500 }))
})

void t.test('everything that is printed goes through the function that makes it printable', async t => {
  const sources = ['apps', 'packages'].flatMap(top => readdirSync(join(root, top)).flatMap(name => {
    const directory = join(root, top, name, 'src')
    return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts')).map(file => join(directory, file))
  }))
  const printing = sources.filter(file => /console\.(?:log|error|warn)|process\.std(?:out|err)\.write/.test(readFileSync(file, 'utf8'))).map(file => file.slice(root.length))
  t.strictSame(printing.sort(), [
    '/apps/cli/src/terminal/terminal.ts', '/packages/executors/src/egress/probe/canary.ts', '/packages/runtime/src/process/messages.ts',
    '/packages/sandbox/src/probe/canary.ts'
  ])
})
