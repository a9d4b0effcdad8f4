import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { paddingOf, writeHeader } from '@toolyard/workspace'
import { runToolyard, type Ran } from '../cli/toolyard.ts'
import { writeFiles } from '../support/files.ts'

const skill = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}.\n---\nText\n`

interface Project {
  /** The directory that it is in, where the lock is. */
  work: string
  /** Writes files, and adds what holds them. */
  add: (name: string, files: Record<string, string | Buffer>, what?: string) => Promise<Ran>
  run: (...words: string[]) => Promise<Ran>
  added: () => string[]
}

function project (t: Test): Project {
  const dir = t.testdir({ work: {} })
  const work = join(dir, 'work')
  const run = async (...words: string[]): Promise<Ran> => await runToolyard(words, { cwd: work, env: { LOCK: 'require' } })
  return {
    work,
    run,
    async add (name, files, what = '') {
      writeFiles(join(dir, name), files)
      return await run('add', join(dir, name, what), '--name', name, '--yes')
    },
    added: () => existsSync(join(work, 'toolyard.lock.json')) ? Object.keys((JSON.parse(readFileSync(join(work, 'toolyard.lock.json'), 'utf8')) as { entries: object }).entries) : []
  }
}

t.test('a skill whose name another one has is not added, whether that is beside it or was added before', async t => {
  const { add, added } = project(t)
  t.match(await add('twins', { 'x/SKILL.md': skill('pdf'), 'y/SKILL.md': skill('pdf') }), { status: 1, stderr: /x\/SKILL\.md: skill "pdf" is replaced by the one of y\/SKILL\.md\. Two skills of one name/ })
  t.match(await add('office', { 'pdf/SKILL.md': skill('pdf') }), { status: 0 })
  t.match(await add('zz', { 'other/SKILL.md': skill('pdf') }), { status: 1, stderr: /There is a skill "pdf" in office already/ })
  t.same(added(), ['office'])
})

t.test('of an archive of another kind than tar it is said what to do', async t => {
  const { add, added } = project(t)
  const kinds = { zip: ['504b0304', /is a zip archive, which isn't read: unpack it, and add the directory\.$/m], xz: ['fd377a585a00', /is compressed by xz/] } as const
  for (const [kind, [head, says]] of Object.entries(kinds)) {
    t.match(await add('packed', { [kind]: Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(600)]) }, kind), { status: 1, stderr: says })
  }
  t.same(added(), [])
})

t.test('of the text of a skill it is said that its directory is added', async t => {
  const { add, added } = project(t)
  t.match(await add('pdf', { 'SKILL.md': skill('pdf') }, 'SKILL.md'), { status: 1, stderr: /SKILL\.md is the text of a skill: add its directory, .*\/pdf\.$/m })
  t.same(added(), [])
})

t.test('skills whose names are paths, hide letters, or differ from others in the form of their letters alone are not added', async t => {
  const { add, added } = project(t)
  for (const [at, name] of ['".."', '"../../etc"', '"/abs/x"', '"a\\\\b"', '"a\\nskill b"', '"a\\e[2Jb"', '"a\\u202eb"', '__proto__'].entries()) {
    t.match(await add(`odd-${at}`, { 'a/SKILL.md': skill(name) }), { status: 1, stderr: /no skill may have that name\. Nothing was added\. In a copy of the files, write another name into a\/SKILL\.md/ }, name)
  }
  t.match(await add('forms', { 'x/SKILL.md': skill('"caf\\u00e9"'), 'y/SKILL.md': skill('"cafe\\u0301"') }), { status: 1, stderr: /differs from .* in case or in the form of its letters alone/ })
  t.match(await add('office', { 'pdf/SKILL.md': skill('pdf') }), { status: 0 })
  t.match(await add('other', { 'a/SKILL.md': skill('PDF') }), { status: 1, stderr: /There is a skill "pdf" in office already/ })
  t.same(added(), ['office'])
})

t.test('a directory with two spellings of one name, or a name with control characters, is refused as an archive is', async t => {
  const { add, added } = project(t)
  t.match(await add('spelled', { 'SKILL.md': skill('pdf'), 'scripts/caf\u00e9.py': '1', 'scripts/cafe\u0301.py': '2' }), { status: 1, stderr: /differs from .* in case or in the form of its letters alone/ })
  t.match(await add('letters', { 'SKILL.md': skill('pdf'), 'scripts/a\nskill b.py': '1' }), { status: 1, stderr: /has letters that no name may have/ })
  t.same(added(), [])
})

t.test('a manifest that only says what skills may do is added, and holds where LOCK=require', async t => {
  const { add, run } = project(t)
  t.match(await add('office', { 'pdf/SKILL.md': skill('pdf'), 'pdf/scripts/run.sh': 'exit\n' }), { status: 0 })
  const layer = { tools: [{ skill: 'pdf', permissions: ['write_files'] }] }
  t.match(await add('bounds', { 'layer.json': JSON.stringify(layer) }, 'layer.json'), { status: 0, stdout: /entry about the skill pdf: \{"permissions":\["write_files"\]\}/ })
  const folded = { Tools: layer.tools }
  t.match(await add('folded', { 'tools.json': JSON.stringify(folded) }), { status: 0, stdout: /entry about the skill pdf: \{"permissions":\["write_files"\]\}/ }, 'also where the list is spelled in another way')
  t.match(await run('validate', 'toolyard.lock.json'), { status: 0, stdout: /no issues/ })
})

t.test('what no model can call is told, and not added where there is nothing else', async t => {
  const { add, added } = project(t)
  const tools = (...names: string[]): Record<string, string> => ({ 'm.json': JSON.stringify({ tools: names.map(name => ({ name, description: 'x', schema: { type: 'object' }, command: ['/bin/true'] })) }) })
  t.match(await add('none', tools('no good', 'x/y'), 'm.json'), { status: 1, stderr: /tool no good: no model can call it: names have 1 to 64 letters/ })
  t.match(await add('some', tools('no good', 'fine'), 'm.json'), { status: 0, stdout: /tool no good: x\n {4}no model can call it/ })
  t.match(await add('odd', { 'a/SKILL.md': skill('a b') }), { status: 0, stdout: /skill a b \(a\/SKILL\.md, 5 characters for models\)\n {4}a name with other letters/ })
  t.same(added(), ['odd', 'some'])
})

t.test('a directory whose links double with each level is refused', async t => {
  const { add, added } = project(t)
  const dir = join(t.testdirName, 'doubled')
  const levels = Array.from({ length: 17 }, (_, level) => `l${level}`)
  for (const [at, level] of levels.entries()) {
    mkdirSync(join(dir, level), { recursive: true })
    const next = levels[at + 1]
    if (next !== undefined) for (const name of ['a', 'b']) symlinkSync(`../${next}`, join(dir, level, name))
  }
  t.match(await add('doubled', { 'SKILL.md': skill('pdf') }), { status: 1, stderr: /has more than 20000 files and directories\. Nothing was added/ })
  t.same(added(), [])
})

t.test('an archive without files is refused, and no message names the place where it was unpacked', async t => {
  const { add } = project(t)
  t.match(await add('zeros', { 'a.tgz': gzipSync(Buffer.alloc(100_000)) }, 'a.tgz'), { status: 1, stderr: /The archive has no files/ })
  const broken = await add('broken', { 'skills/a/SKILL.md': skill('a'), 'skills/a/tools.json': '[', 'skills/b/SKILL.md': `${skill('b')}${'x'.repeat(2_000_000)}` })
  t.equal(broken.status, 1)
  t.notMatch(broken.stderr, /\.part-/)
  t.same(readdirSync(dirname(t.testdirName)).filter(name => name.startsWith('.part-')), [])
})

t.test('a file of servers that is nested without bound is refused', async t => {
  const { add, added } = project(t)
  const args = '['.repeat(200_000) + ']'.repeat(200_000)
  t.match(await add('deep', { 'a.json': `{"mcpServers": {"a": {"command": "cat", "args": ${args}}}}` }, 'a.json'), { status: 1, stderr: /The file is nested deeper than 100 levels/ })
  t.match(await add('deep', { 'b.json': `${'{"servers": '.repeat(100_000)}{}${'}'.repeat(100_000)}` }, 'b.json'), { status: 1, stderr: /The file is nested deeper than 100 levels/ })
  t.same(added(), [])
})

t.test('a document of OpenAPI may be as large as those that are published', async t => {
  const { add, added } = project(t)
  const paths = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`/things/${at}`, { get: { operationId: `thing${at}`, responses: { 200: { description: 'x'.repeat(70_000) } } } }]))
  const document = { openapi: '3.0.3', info: { title: 'Things', version: '1' }, servers: [{ url: 'https://api.example.com' }], paths }
  const ran = await add('things', { 'things.json': JSON.stringify(document) }, 'things.json')
  t.equal(ran.status, 0, ran.stderr.slice(-300))
  t.same(added(), ['things'])
})

t.test('a copy of the project has neither what was added to it nor its keys', async t => {
  const { add, run, added, work } = project(t)
  t.match(await add('office', { 'pdf/SKILL.md': skill('pdf') }), { status: 0 })
  mkdirSync(join(work, 'tools/bin'))
  writeFileSync(join(work, 'tools/bin/run.sh'), 'exit\n')
  writeFileSync(join(work, 'SKILL.md'), skill('own'))
  writeFileSync(join(work, '.env'), 'API_KEY=key-0123456789abcdef\n')
  symlinkSync('.env', join(work, 'settings'))
  symlinkSync('tools/vendor', join(work, 'others'))
  t.match(await run('add', '.', '--name', 'own', '--yes'), { status: 0, stdout: /own is in tools\/vendor\/own@/ })
  t.same(added(), ['office', 'own'])
  const copy = readdirSync(join(work, 'tools/vendor')).find(name => name.startsWith('own@')) ?? ''
  t.same(readdirSync(join(work, 'tools/vendor', copy), { recursive: true }).sort(), ['SKILL.md', 'tools', 'tools/bin', 'tools/bin/run.sh', 'toolyard.lock.json'])
  t.match(await run('validate', 'toolyard.lock.json'), { status: 0 })
})

t.test('a repository of git in what is added is left out: git would run what its settings name', async t => {
  const { add, work } = project(t)
  const files = { 'SKILL.md': skill('pdf'), '.git/config': '[core]\nfsmonitor = id\n', 'sub/.GIT/config': 'x', 'sub/.git': 'gitdir: ..', 'sub/a': 'x' }
  const entry = ([name, text]: [string, string]): Buffer => {
    const content = Buffer.from(text)
    return Buffer.concat([writeHeader({ name: Buffer.from(name), size: content.length, mode: 0o644, mtime: new Date(0), type: '0' }), content, paddingOf(content.length)])
  }
  const archive = gzipSync(Buffer.concat([...Object.entries(files).map(entry), Buffer.alloc(1_024)]))
  t.match(await add('packed', { 'a.tgz': archive }, 'a.tgz'), { status: 0 })
  const copy = readdirSync(join(work, 'tools/vendor')).find(name => name.startsWith('packed@')) ?? ''
  t.same(readdirSync(join(work, 'tools/vendor', copy), { recursive: true }).sort(), ['SKILL.md', 'sub', 'sub/a'])
})

t.test('what git takes for a repository by what is in it is refused, also without the name .git', async t => {
  const { add, added } = project(t)
  const settings = '[core]\n\tworktree = "."\n\tfsmonitor = "touch ran; false"\n'
  const bare = { 'SKILL.md': skill('cards'), 'scripts/head': 'ref: refs/heads/x\n', 'scripts/config': settings, 'scripts/Objects/x': '', 'scripts/refs/x': '' }
  t.match(await add('bare', bare), { status: 1, stderr: /toolyard add: scripts is a repository of git, whose settings may name programs\. Nothing was added\./ })
  const elsewhere = { 'SKILL.md': skill('cards'), HEAD: 'ref: refs/heads/x\n', commondir: 'common', 'common/config': settings }
  t.match(await add('elsewhere', elsewhere), { status: 1, stderr: /toolyard add: \. is a repository of git/ })
  t.match(await add('like', { 'SKILL.md': skill('cards'), HEAD: 'x', 'refs/x': '', config: 'x' }), { status: 0 })
  t.same(added().length, 1)
})
