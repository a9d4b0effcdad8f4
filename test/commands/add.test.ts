import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { archivePath, readSource, unpackInto } from 'toolyard'
import { writeHeader } from '@toolyard/workspace'
import { runToolyard, type Ran } from '../cli/toolyard.ts'
import { commitIn } from './repository.ts'
import { writeFiles } from '../support/files.ts'

const skill = (name: string, text = 'Text\n'): string => `---\nname: ${name}\ndescription: Does ${name}.\n---\n${text}`
const collection: Record<string, string> = {
  'skills/documents/letters/SKILL.md': skill('letters'),
  'skills/documents/letters/scripts/run.py': '#!/usr/bin/env python3\nimport lxml\nprint("hello")\n',
  'skills/plain/SKILL.md': skill('plain'),
  'README.md': 'Skills\n'
}

interface Project {
  dir: string
  run: (...words: string[]) => Promise<Ran>
  write: (files: Record<string, string>, below?: string) => string
  lock: () => { entries: Record<string, { path: string, digest: string, status: string, previous: unknown[] }> }
  vendored: () => string[]
}

function project (t: Test): Project {
  const dir = t.testdir({ work: {} })
  const work = join(dir, 'work')
  return {
    dir: work,
    run: async (...words) => await runToolyard(words, { cwd: work, env: {} }),
    write: (files, below = 'source') => writeFiles(join(dir, below), files),
    lock: () => JSON.parse(readFileSync(join(work, 'toolyard.lock.json'), 'utf8')) as ReturnType<Project['lock']>,
    vendored: () => existsSync(join(work, 'tools/vendor')) ? readdirSync(join(work, 'tools/vendor')) : []
  }
}

/** A tar archive of entries; a name may be anything. */
function tar (entries: Array<{ name: string | Buffer, content?: string, type?: string }>): Buffer {
  const blocks = entries.flatMap(({ name, content = '', type = '0' }) => {
    const header = writeHeader({ name: Buffer.from(name), size: Buffer.byteLength(content), mode: 0o644, mtime: new Date(0), type: '0' })
    if (type !== '0') {
      header.write(type, header.length - 512 + 156)
      header.fill(' ', header.length - 512 + 148, header.length - 512 + 156)
      const sum = header.subarray(header.length - 512).reduce((total, byte) => total + byte, 0)
      header.write(`${sum.toString(8).padStart(6, '0')}\0 `, header.length - 512 + 148)
    }
    const body = Buffer.from(content)
    return [header, body, Buffer.alloc((512 - body.length % 512) % 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1_024)])
}

async function * piecesOf (content: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += 700) yield content.subarray(at, at + 700)
}

t.test('a collection is shown, and added by one command; an update, a rollback and a removal follow it', async t => {
  const { dir, run, write, lock, vendored } = project(t)
  const source = write(collection)
  const shown = await run('add', source, '--name', 'office')
  t.equal(shown.status, 1)
  t.match(shown.stdout, /skill letters \(skills\/documents\/letters\/SKILL\.md, 5 characters for models\)\n {4}Does letters\.\n {4}may run: scripts\/run\.py\n {4}programs: python3\n {4}modules of Python: lxml/)
  t.match(shown.stderr, /nothing was changed; --yes does it/)
  t.same(vendored(), [])

  t.match(await run('add', source, '--name', 'office', '--yes'), { status: 0 })
  const first = lock().entries['office']
  t.match(first, { status: 'experimental', path: /^tools\/vendor\/office@[0-9a-f]{12}$/, previous: [] })
  t.match(await run('tools', 'toolyard.lock.json'), { status: 0, stdout: /activate_skill/ })
  t.match(await run('add', source, '--name', 'office', '--yes'), { status: 2, stderr: /toolyard update office/ })

  write({ 'skills/plain/SKILL.md': skill('plain', 'Other\n'), 'skills/plain/new.md': 'new' })
  t.match(await run('update', 'office', '--yes', '--trusted'), { status: 0, stdout: / {2}! skills\/plain\/SKILL\.md\n {2}\+ skills\/plain\/new\.md\n/ })
  t.match(lock().entries['office'], { status: 'trusted', previous: [{ digest: first?.digest }] })
  t.equal(vendored().length, 2)
  t.match(await run('rollback', 'office'), { status: 0 })
  t.match(lock().entries['office'], { digest: first?.digest, previous: [] })
  t.match(await run('rollback', 'office'), { status: 1, stderr: /no version of office before this one/ })
  t.match(await run('remove', 'office'), { status: 0 })
  t.notOk(existsSync(join(dir, 'toolyard.lock.json')))
  t.match(await run('remove', 'office'), { status: 1, stderr: /has no office/ })
})

t.test('an archive, a repository at a commit, and a document of another program are added', async t => {
  const { run, write, lock } = project(t)
  const source = write(collection)
  const archive = join(source, '../skills.tar.gz')
  writeFileSync(archive, gzipSync(tar(Object.entries(collection).map(([name, content]) => ({ name: `top-1.0/${name}`, content })))))
  t.match(await run('add', archive, '--yes'), { status: 0, stdout: /skill letters \(skills\/documents/ })
  const repository = write({ 'cards/SKILL.md': skill('cards') }, 'repository')
  const commit = commitIn(repository)
  t.match(await run('add', `git+file://${repository}#${commit}`, '--name', 'repository', '--yes'), { status: 0 })
  t.match(lock().entries['repository'], { source: `git+file://${repository}#${commit}` })
  t.match(await run('add', `git+file://${repository}#${'0'.repeat(40)}`, '--name', 'other', '--yes'), { status: 1, stderr: /git can't read 0{40}/ })
  const servers = join(source, '../servers.json')
  writeFileSync(servers, JSON.stringify({ mcpServers: { sample: { command: 'sample-server', args: ['--stdio'] } } }))
  t.match(await run('add', servers, '--yes'), { status: 0, stdout: /MCP server sample: sample-server --stdio/ })
  t.same(Object.keys(lock().entries), ['repository', 'servers', 'skills'])
})

t.test('SN37 a skill in versions is added with the version that its link names', async t => {
  const { dir, run, write } = project(t)
  const tools = JSON.stringify([{ name: 'show_day' }])
  const source = write({ 'dates/versions/1f41/SKILL.md': '# Dates\n', 'dates/versions/1f41/tools.json': tools, 'dates/versions/1f41/allowlist.json': '{"date": [""]}', 'dates/versions/1f41/execution.json': '[{"tool": "show_day", "binary": "date", "subcommand": ""}]', 'dates/versions/2a52/SKILL.md': '# Old\n' }, 'versions')
  symlinkSync('versions/1f41', join(source, 'dates/active'))
  t.match(await run('add', source, '--name', 'dates', '--yes'), { status: 0, stdout: /tool show_day: \(no description\)\n {4}runs date; permissions: TOOL_DEFAULT_PERMISSIONS/ })
  t.match(await run('tools', join(dir, 'toolyard.lock.json')), { status: 0, stdout: /- show_day \(experimental\)/ })
})

t.test('what is wrong with a source is said, and nothing is half added', async t => {
  const { dir, run, write, vendored } = project(t)
  const source = write({ ...collection })
  symlinkSync('/etc/hostname', join(source, 'skills/plain/stolen'))
  t.match(await run('add', source, '--yes'), { status: 1, stderr: /stolen is a link that leads out of/ })
  const empty = write({ 'README.md': 'nothing' }, 'empty')
  t.match(await run('add', empty, '--yes'), { status: 1, stderr: /holds no skill and no manifest/ })
  const broken = join(dir, '../broken.tar')
  writeFileSync(broken, tar([{ name: 'SKILL.md', content: skill('x') }, { name: '../out', content: 'x' }]))
  t.match(await run('add', broken, '--yes'), { status: 1, stderr: /The entry "\.\.\/out" of the archive: leads out of the archive/ })
  writeFileSync(join(dir, 'toolyard.lock.json'), '{"version": 2, "entries": {')
  t.match(await run('add', empty, '--yes'), { status: 1, stderr: /toolyard\.lock\.json is not JSON\. .*nothing was changed/ })
  t.same(vendored(), [])
})

t.test('a source that is an option, a branch, or without a digest makes no sense', async t => {
  for (const [source, message] of [
    ['--upload-pack=touch x', /is no source/], ['git+https://-oProxyCommand=x/y.git#' + '0'.repeat(40), /no URL of a git repository/],
    ['git+ssh://-x@host/y.git#' + '0'.repeat(40), /no URL of a git repository/], ['ext::sh -c id', /is not taken/], ['git+ext::sh#' + '0'.repeat(40), /is not taken/], ['git@host:x.git', /is not taken/],
    ['git+https://host/x.git#main', /Name the commit/], ['git+https://host/x.git', /Name the commit/], ['https://host/x.tgz', /Name the SHA-256/], ['https://host/x.tgz#sha256=12', /Name the SHA-256/],
    ['http://host/x.tgz#sha256=' + '0'.repeat(64), /is not taken/], ['/no/such/thing', /There is no file or directory/], ['', /is no source/], ['a\nb', /is no source/]
  ] as const) await t.rejects(readSource(source), { message }, JSON.stringify(source))
})

t.test('an https source on this machine, or inside its network, is not asked', async t => {
  const { run } = project(t)
  for (const host of ['127.0.0.1', 'localhost', '169.254.169.254', '[::1]']) {
    t.match(await run('add', `https://${host}/x.tgz#sha256=${'0'.repeat(64)}`, '--yes'), { status: 1, stderr: /is not a public host/ }, host)
  }
})

t.test('archives with links, devices, two spellings or a file in a file are refused with the entry', async t => {
  const refused = async (entries: Parameters<typeof tar>[0], message: RegExp): Promise<void> => {
    await t.rejects(unpackInto(t.testdir(), piecesOf(tar(entries))), { message })
  }
  await refused([{ name: 'a', type: '2' }], /The entry "a" of the archive: is a symbolic link/)
  await refused([{ name: 'a', type: '1' }], /is a hard link/)
  await refused([{ name: 'a', type: '3' }], /is a device/)
  await refused([{ name: 'a', content: '1' }, { name: 'a', content: '2' }], /stands twice/)
  await refused([{ name: 'caf\u00e9', content: '1' }, { name: 'cafe\u0301', content: '2' }], /differs from "caf\u00e9" in case or in the form of its letters alone/)
  await refused([{ name: 'A/x', content: '1' }, { name: 'a/y', content: '2' }], /differs from "A"/)
  await refused([{ name: 'a', content: '1' }, { name: 'a/b', content: '2' }], /lies in a file/)
  await refused([{ name: Buffer.from([0xff, 0x61]) }], /has a name that is no text/)
  await refused([{ name: '/etc/passwd' }], /has a path from the root/)
  await refused(Array.from({ length: 800 }, (_, at) => ({ name: `${at}/${'x/'.repeat(29)}f` })), /is too much: at most 20000 files and directories are taken/)
  await t.rejects(unpackInto(t.testdir(), piecesOf(tar([{ name: 'a', content: 'x'.repeat(2_000) }]).subarray(0, 1_500))), { message: /is not a whole tar archive: it is cut off|The entry "a"/ })
})

t.test('a million entries are not unpacked', async t => {
  async function * endless (): AsyncGenerator<Buffer> {
    for (let at = 0; at < 1_000_000; at++) yield writeHeader({ name: Buffer.from(`d${at % 10}/`), size: 0, mode: 0o755, mtime: new Date(0), type: '5' })
  }
  await t.rejects(unpackInto(t.testdir(), endless()), { message: /is one too many: at most 20000 are taken/ })
})

t.test('no name of an archive leads out of where it is unpacked', async t => {
  const part = fc.oneof(fc.constantFrom('..', '.', '', 'a', '...', '~', 'C:', '..\\..', '\u0000', 'a\u0301'), fc.string({ maxLength: 5 }))
  fc.assert(fc.property(fc.array(part, { maxLength: 10 }), fc.constantFrom('', '/', './', '../'), (parts, start) => {
    let path: string
    try {
      path = archivePath(Buffer.from(start + parts.join('/')))
    } catch {
      return true
    }
    const place = join('/base', path)
    return place === '/base' || place === '/base/' || (place.startsWith('/base/') && !path.includes('\0'))
  }), { numRuns: 2_000 })
})
