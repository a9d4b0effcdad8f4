import t, { type Test } from 'tap'
import { hasPython } from '../support/python.ts'
import { runToolyard, type Ran } from '../cli/toolyard.ts'

const good = { tools: [{ name: 'lister', description: 'Lists the files of a folder', schema: { type: 'object', properties: {}, required: [], additionalProperties: false }, command: ['/bin/ls'] }] }

const toolyard = async (cwd: string, args: string[], env = {}): Promise<Ran> => await runToolyard(args, { cwd, env })

function project (t: Test): string {
  return t.testdir({
    'good.json': JSON.stringify(good),
    'bad.json': '{\n  "tools": [\n    {"name": "x", "command": ["echo"]}\n  ]\n}\n',
    'unversioned.json': JSON.stringify({ metadata: { name: 'a', description: 'b' }, tools: [{ name: 'x', description: 'Does a thing', module: 'm' }] }),
    'm.py': '',
    'off.json': JSON.stringify({ tools: [{ name: 'lister', enabled: false }] })
  })
}

t.test('P32, PC1 validate says when nothing is wrong, and exits with 0', async t => {
  const { status, stdout } = await toolyard(project(t), ['validate', 'good.json'])
  t.equal(stdout, 'Validated 1 manifest file(s) with no issues.\n')
  t.equal(status, 0)
})

t.test('PC1, PC6 validate prints the findings of all manifests with position, rule and remedy, and exits with 1', async t => {
  const { status, stdout } = await toolyard(project(t), ['validate', 'bad.json', 'missing.json'])
  t.equal(status, 1)
  t.match(stdout, /^Validation failed:\n/)
  t.match(stdout, /bad\.json:3:\d+ :: tool\[0\] "x": relative command\[0\] must start with \.\/tools\/bin\/\n {5}error A34; /)
  t.match(stdout, /missing\.json :: read manifest: /)
})

t.test('validate prints errors first, then warnings, then notes', async t => {
  const command = ['/bin/ls']
  const dir = t.testdir({
    'noted.json': JSON.stringify({ tools: [{ ...good.tools[0], name: 'undescribed', description: '' }, { ...good.tools[0], colour: 'red' }] }),
    'bad.json': JSON.stringify({ tools: [{ name: '', description: 'Has no name', command }] })
  })
  const { stdout } = await toolyard(dir, ['validate', 'noted.json', 'bad.json'])
  const severities = [...stdout.matchAll(/^ {5}(error|warning|note) /gm)].map(([, severity]) => severity)
  const order = ['error', 'warning', 'note']
  t.strictSame(severities, order.flatMap(which => severities.filter(each => each === which)))
  t.strictSame(new Set(severities), new Set(order))
})

t.test('AC25 a tool has one line in the list of tools, whatever its description', async t => {
  const described = (name: string, description: string): object => ({ ...good.tools[0], name, description })
  const dir = t.testdir({ 'm.json': JSON.stringify({ tools: [described('one', 'Lists files.'), described('three', '\n  Lists files.\r\n\r\nOf a folder.\n'), described('none', ' \n')] }) })
  const { stdout } = await toolyard(dir, ['tools', 'm.json'])
  const lines = stdout.split('\n').filter(line => /^- (?:one|three|none)|^ *(?:Lists|Of)/.test(line))
  t.strictSame(lines, ['- none: (no description)', '- one: Lists files.', '- three: Lists files. ...'])
})

t.test('X15 a missing schema_version is an error to validate', async t => {
  const { status, stdout } = await toolyard(project(t), ['validate', 'unversioned.json'])
  t.equal(status, 1)
  t.match(stdout, "schema_version must be '1.0'")
})

t.test('P29 validate imports modules in its own directory, also for tools that may not read the workspace', { skip: hasPython() ? false : 'python3 is not installed' }, async t => {
  const dir = t.testdir({
    mods: { 'good.py': 'from toolyard import Tool\n\n\nclass Good(Tool):\n    def execute(self):\n        return 1\n' },
    'm.json': JSON.stringify({ schema_version: '1.0', metadata: { name: 'a', description: 'b' }, tools: [{ name: 'good', description: 'Does a thing', module: 'mods.good', permissions: [] }] })
  })
  t.equal((await toolyard(dir, ['validate', 'm.json'])).stdout, 'Validated 1 manifest file(s) with no issues.\n')
})

t.test('P29, PC4, X16 validate imports the modules of Python tools, and constructs their classes', { skip: hasPython() ? false : 'python3 is not installed' }, async t => {
  const tool = 'from toolyard import Tool\n\n\nclass Probe(Tool):\n    def execute(self):\n        raise RuntimeError("executed")\n'
  const modules: Record<string, [text: string, fields?: object]> = {
    good: [tool],
    syntax: [`${tool}def x(:\n`],
    missing: [`import no_such_package\n${tool}`],
    raises: [`${tool}raise RuntimeError('no luck')\n`],
    hidden: ['globals()["x"] = 1\n'],
    other: ['globals()["x"] = 1\n', { class_name: 'Nope' }],
    unbuilt: [`${tool}    def __init__(self, name):\n        pass\n`],
    early: ["raise RuntimeError('no class')\n"],
    empty: ['x = 1\n'],
    plain: [`${tool}Plain = type('Plain', (), {})\n`, { class_name: 'Plain' }]
  }
  const entries = Object.entries(modules)
  const dir = t.testdir({
    mods: Object.fromEntries(entries.map(([name, [text]]) => [`${name}.py`, text])),
    'm.json': JSON.stringify({ schema_version: '1.0', metadata: { name: 'a', description: 'b' }, tools: entries.map(([name, [, fields]]) => ({ name, description: 'Does a thing', module: `mods.${name}`, ...fields })) })
  })
  const { status, stdout } = await toolyard(dir, ['validate', '--json', 'm.json'])
  t.equal(status, 1)
  const { findings } = JSON.parse(stdout) as { findings: Array<{ rule: string, severity: string, message: string, fix: string | null }> }
  const errors = findings.filter(({ severity }) => severity === 'error').map(({ rule, message }) => `${rule} ${message}`)
  t.match(errors[0], /^P29 tools\[1\]\.module import failed \(SyntaxError: invalid syntax/)
  t.strictSame(errors.slice(1), [
    "P29 tools[2].module import failed (ModuleNotFoundError: No module named 'no_such_package')",
    'P29 tools[3].module import failed (RuntimeError: no luck)',
    'P17 tools[4].no Tool subclass found in module',
    "P16 tools[5].class_name 'Nope' not found in module",
    "X16 tools[6].class 'Probe' cannot be constructed: TypeError: Probe.__init__() takes 2 positional arguments but 4 were given",
    'P29 tools[7].module import failed (RuntimeError: no class)',
    'P17 tools[8].no Tool subclass found in module',
    "P16 tools[9].class_name 'Plain' must inherit from Tool"
  ])
  t.match(findings.find(({ message }) => message.includes('no_such_package'))?.fix, /^Install it for \/\S*python\S*, which has tried it: \S+ -m pip install no_such_package\./)
  const unread = JSON.parse((await toolyard(dir, ['validate', '--json', '--no-import', 'm.json'])).stdout) as { findings: typeof findings }
  t.strictSame(unread.findings.filter(({ severity }) => severity === 'error').map(({ message }) => message), [7, 8].map(at => `tools[${at}].no Tool subclass found in module`), 'the text alone says less')
})

t.test('validate --json prints the findings as data', async t => {
  const { status, stdout } = await toolyard(project(t), ['validate', '--json', 'bad.json'])
  t.equal(status, 1)
  t.match(JSON.parse(stdout), { ok: false, findings: [{ severity: 'error', rule: 'A34', index: 0, tool: 'x', line: 3 }] })
})

t.test('validate --strict turns warnings into errors', async t => {
  const dir = t.testdir({ 'odd.json': JSON.stringify({ tools: [{ ...good.tools[0], colour: 'red' }] }) })
  t.match(await toolyard(dir, ['validate', 'odd.json']), { status: 0, stdout: /^Validated 1 manifest file\(s\) with warnings:\n[\s\S]*\n0 errors, 1 warning, 0 notes\n/ })
  t.match(await toolyard(dir, ['validate', '--strict', 'odd.json']), { status: 1, stdout: '1 error, 0 warnings, 0 notes\n' })
})

t.test('advice about models is a note, which --strict accepts; the last line says how to read a rule', async t => {
  const dir = t.testdir({ 'terse.json': '{"tools": [{"name": "x", "command": ["/bin/ls"]}]}' })
  const { status, stdout } = await toolyard(dir, ['validate', '--strict', 'terse.json'])
  t.equal(status, 0)
  t.match(stdout, /^Validated 1 manifest file\(s\) with no issues, and notes:\n[\s\S]*\n {5}note lint\/description; /)
  t.match(stdout, /\n0 errors, 0 warnings, \d notes?\ntoolyard explain lint\/\w+ tells what that rule asks for; all rules are in \/\S+\/docs\/conformance\.md\n$/)
  t.match((await toolyard(project(t), ['validate', 'bad.json'])).stdout, /\ntoolyard explain A34 tells what that rule asks for; all rules are in \/\S+\n$/)
})

t.test('validate without a path is a usage error', async t => {
  t.equal((await toolyard(t.testdir({}), ['validate'])).status, 2)
})

t.test('AC25 tools lists what would be published, by name', async t => {
  const { status, stdout } = await toolyard(project(t), ['tools', '--manifests'], { TOOL_MANIFESTS: 'good.json' })
  t.equal(status, 0)
  t.match(stdout, /^Capabilities \(enabled tools\):\n- data_file_read: /)
  t.match(stdout, '- lister: Lists the files of a folder\n')
})

t.test('A28 tools --openai prints the specs', async t => {
  const specs = JSON.parse((await toolyard(project(t), ['tools', '--manifests', '--openai'], { TOOL_MANIFESTS: 'good.json' })).stdout) as Array<{ function: { name: string } }>
  t.ok(specs.some(spec => spec.function.name === 'lister'))
})

t.test('a manifest that is named to tools and of which nothing is served is an error that names it', async t => {
  const dir = t.testdir({ 'good.json': '{"tools": [{"name": "x", "command": ["/bin/ls"]}]}', 'bad.json': '{"tools": [{"name": ""}]}' })
  for (const [args, stderr] of [
    [['missing.json'], /^toolyard tools: \S+\/missing\.json: read manifest: ENOENT/],
    [['good.json', 'bad.json'], /^toolyard tools: \S+\/bad\.json: tool\[0\]: name is required\n$/],
    [['--explain', 'x', 'bad.json'], /^toolyard tools: \S+\/bad\.json: /]
  ] as const) t.match(await toolyard(dir, ['tools', ...args]), { status: 1, stdout: '', stderr })
  const { status, stdout } = await toolyard(dir, ['tools', '--json', 'missing.json'])
  t.equal(status, 1)
  t.match(JSON.parse(stdout), { ok: false, error: { message: /missing\.json: read manifest: ENOENT/ } })
  t.equal((await toolyard(dir, ['tools', 'good.json'])).status, 0)
})

t.test('P18 tools lists what PERMISSIONS_ALLOWED allows, and --explain names what it refuses', async t => {
  const dir = t.testdir({ 'tools.json': JSON.stringify({ tools: [{ name: 'writer', description: 'Writes', command: ['/bin/ls'], permissions: ['write_files'] }, { name: 'thinker', description: 'Thinks', command: ['/bin/ls'], permissions: [] }] }) })
  const env = { TOOL_MANIFESTS: 'tools.json', PERMISSIONS_ALLOWED: 'read_repo' }
  const listed = (await toolyard(dir, ['tools', '--manifests'], env)).stdout
  t.match(listed, /- thinker: /)
  t.notMatch(listed, /- writer: /)
  const specs = JSON.parse((await toolyard(dir, ['tools', '--manifests', '--openai'], env)).stdout) as Array<{ function: { name: string } }>
  t.notOk(specs.some(spec => spec.function.name === 'writer'))
  t.match((await toolyard(dir, ['tools', '--explain', 'writer'], env)).stdout, /^writer is not published: PERMISSIONS_ALLOWED does not have write_files\n/)
})

t.test('P25, P27 tools --explain shows the layers of a tool', async t => {
  const { status, stdout } = await toolyard(project(t), ['tools', '--explain', 'lister'], { TOOL_MANIFESTS: 'good.json,off.json' })
  t.equal(status, 0)
  t.match(stdout, /^lister is disabled\n/)
  t.match(stdout, /layer 0: declared by .*good\.json[\s\S]*layer 1: switched off by .*off\.json/)
  t.equal((await toolyard(project(t), ['tools', '--explain', 'nobody'])).status, 1)
  const broken = t.testdir({ 'tools.json': JSON.stringify({ tools: [{ name: 'mine', command: 5 }] }) })
  const unknown = await toolyard(broken, ['tools', '--explain', 'mine'], { TOOL_MANIFESTS: 'tools.json' })
  t.match(unknown, { status: 1, stderr: /1 error in manifests; toolyard validate tells them\.\n.*no manifest that can be read declares a tool named 'mine'/ })
  const specs = await toolyard(broken, ['tools', '--manifests', '--openai'], { TOOL_MANIFESTS: 'tools.json' })
  t.match(specs, { status: 0, stderr: /1 error in manifests/ })
})

t.test('egress suggest prints the hosts of the last calls of a tool, and which were denied', async t => {
  const line = (tool: string, host: string, port: number, decision: string): string => JSON.stringify({ ts: '2026-11-27T10:00:00.000Z', tool, egress: { host, port, decision } })
  const cwd = t.testdir({
    audit: {
      '20261126.log': `${line('whoami', 'api.github.com', 443, 'allowed')}\n${line('whoami', 'api.github.com', 80, 'allowed')}\n${line('other', 'other.example', 443, 'allowed')}\n`,
      '20261127.log': `${line('whoami', 'files.example', 8443, 'denied')}\nnot JSON with "egress"\n${line('whoami', '2001:db8::1', 443, 'denied')}\n{"tool":"whoami","egr`,
      'notes.txt': 'no audit'
    }
  })
  const suggest = async (...args: string[]): Promise<Ran> => await toolyard(cwd, ['egress', 'suggest', ...args], { AUDIT_DIR: 'audit' })
  t.match(await suggest('whoami'), {
    status: 0, stdout: '"network": ["[2001:db8::1]","api.github.com","files.example:8443"]\n', stderr: /denied until now: files\.example:8443, \[2001:db8::1\]/
  })
  t.match(await suggest('nobody'), { status: 0, stdout: '"network": []\n', stderr: /no connection of a tool 'nobody'/ })
  t.match(JSON.parse((await suggest('whoami', '--json')).stdout), { ok: true, denied: ['files.example:8443', '[2001:db8::1]'] })
  t.match(await suggest('whoami', '--audit', 'nowhere'), { status: 0, stdout: '"network": []\n' })
})

t.test('validate notes the variables that tools and servers name and that are not set here', async t => {
  const entry = (name: string, rest: object): object => ({ name, description: 'Does a thing.', schema: { type: 'object', properties: {} }, ...rest })
  const cwd = t.testdir({
    'tools.json': JSON.stringify({
      tools: [
        entry('own', { command: ['/bin/ls'], envPassthrough: ['SET_HERE', 'TOKEN_OF_OWN'] }),
        entry('asked', { http: { method: 'GET', url: 'https://api.example/x', headers: { Authorization: { setting: 'TOKEN_OF_ASKED' } } } })
      ]
    }),
    'far.json': JSON.stringify({ tools: [{ name: 'far', mcp: { url: { setting: 'URL_OF_FAR' } } }] })
  })
  const { status, stdout } = await toolyard(cwd, ['validate', 'tools.json', '--strict', '--no-import'], { SET_HERE: '1' })
  t.equal(status, 0, stdout)
  t.match(stdout, /"own" names the variable TOKEN_OF_OWN, which is not set here\n {5}note env\/missing; Set them in the environment of the workers\./)
  t.match(stdout, /"asked" names the variable TOKEN_OF_ASKED/)
  t.match((await toolyard(cwd, ['validate', 'far.json'])).stdout, /"far" names the variable URL_OF_FAR/)
  t.notMatch(stdout, /SET_HERE/)
})

t.test('validate tells of HTTP tools and servers whose host HTTP_PRIVATE_HOSTS does not name', async t => {
  const tool = (name: string, url: string): object => ({ name, description: 'Asks the API for a number', http: { method: 'GET', url } })
  const cwd = t.testdir({ 'tools.json': JSON.stringify({ tools: [
    tool('plain', 'http://api.internal:8080/x'), tool('inside', 'https://10.0.0.5/x'), tool('outside', 'https://api.example.com/x'), { name: 'own', mcp: { url: 'http://[::1]:9/mcp' } }
  ] }) })
  const told = async (env: object): Promise<string[]> => [...(await toolyard(cwd, ['validate', 'tools.json'], env)).stdout.matchAll(/"(\w+)" reaches (\S+), which is for hosts of HTTP_PRIVATE_HOSTS alone/g)].map(([, name, origin]) => `${name} ${origin}`)
  t.strictSame(await told({}), ['plain http://api.internal:8080', 'inside https://10.0.0.5', 'own http://[::1]:9'])
  t.strictSame(await told({ HTTP_PRIVATE_HOSTS: 'internal, 10.0.0.5; ::1' }), [])
})

t.test('validate warns of scripts of Agent Skills whose lines end in CR LF', async t => {
  const cwd = t.testdir({ skill: {
    'SKILL.md': '---\nname: skill\ndescription: Counts words of a text.\n---\nRun scripts/count.py.\n',
    scripts: { 'count.py': '#!/usr/bin/env python3\r\nprint(1)\r\n', 'plain.py': 'print(1)\r\n', 'run.sh': 'echo 1\r\n', 'good.sh': '#!/bin/sh\necho "\r\n"\n' }
  } })
  const { stdout, status } = await toolyard(cwd, ['validate', 'skill'])
  t.match(stdout, /skill "skill": lines of scripts\/count\.py, scripts\/run\.sh end in CR LF, .*\n {5}warning skill\/line-ends; Save it with LF line ends/)
  t.equal(status, 0)
})

t.test('SN38 validate reads the settings of .env, as the service does', async t => {
  const skill = {
    'SKILL.md': '# Days\n',
    'tools.json': JSON.stringify([{ name: 'day', description: 'Gives a day', parameters: { type: 'object', properties: { name: { type: 'string', description: 'Its name' } }, required: ['name'] } }]),
    'allowlist.json': '{"date": ["-d"]}',
    'execution.json': JSON.stringify([{ tool: 'day', binary: 'date', subcommand: '-d', args: [{ param: 'name', resolveCommand: { script: 'name', args: ['$param'] } }] }]),
    scripts: { 'name.sh': 'echo "$1"\n' }
  }
  t.match(await toolyard(t.testdir({ skill }), ['validate', 'skill']), { status: 1, stdout: /resolveCommand runs the script "name", and scripts of skills do not run here/ })
  t.match(await toolyard(t.testdir({ skill, '.env': 'SKILLS_ALLOW_SCRIPTS=1\n' }), ['validate', 'skill']), { status: 0 })
})
