import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { gitArchive, unpackInto } from 'toolyard'
import { commitIn, gitIn } from './repository.ts'
import { writeFiles } from '../support/files.ts'

const skill = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}.\n---\nText\n`

/** Writes files below a directory of the test; its path. */
function writer (t: Test): (files: Record<string, string>, below: string) => string {
  const dir = t.testdir({})
  return (files, below) => writeFiles(join(dir, below), files)
}

t.test('a repository that sends more bytes than are taken is refused', { skip: spawnSync('prlimit', ['--version']).status !== 0 && 'there is no prlimit' }, async t => {
  const write = writer(t)
  // Random bytes can't be compressed.
  const repository = write({ 'SKILL.md': skill('cards'), blob: randomBytes(200_000).toString('latin1') }, 'repository')
  const archive = async (mostBytes: number): Promise<number> => {
    let bytes = 0
    for await (const piece of gitArchive(`file://${repository}`, commit, join(repository, '../fetched'), mostBytes)) bytes += piece.length
    return bytes
  }
  const commit = commitIn(repository)
  await t.rejects(archive(100_000), { message: /sends more than 100000 bytes for that commit, or breaks off/ })
  t.ok(await archive(1_000_000) > 200_000)
})

t.test('a repository is added with the files as its commit has them, whatever its attributes say, and none of them runs a program', async t => {
  const write = writer(t)
  const plain = { 'SKILL.md': skill('cards'), 'left/out.sh': 'exit\n', hidden: 'seen\n', signed: '$Format:%GG %H$ $Id$\n' }
  const attributes = {
    '.gitattributes': '[attr]all export-subst eol=crlf\n* all ident\nhidden export-ignore\nleft/ export-ignore\nSKILL.md working-tree-encoding=UTF-16\n',
    'left/.gitattributes': '* export-subst text eol=crlf\n'
  }
  const repository = write(plain, 'repository')
  commitIn(repository)
  write(attributes, 'repository')
  writeFileSync(join(repository, 'gpg'), '#!/bin/sh\ntouch "$0.ran"\n', { mode: 0o755 })
  const git = gitIn(repository)
  git('', 'add', '.gitattributes', 'left/.gitattributes')
  git('', 'commit', '--quiet', '-m', 'second')
  const signature = '-----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----'
  const signed = git(`${git('', 'cat-file', 'commit', 'HEAD').replace('\n\n', `\ngpgsig ${signature}\n\n`)}\n`, 'hash-object', '-t', 'commit', '-w', '--stdin')
  git('', 'update-ref', 'HEAD', signed)
  const path = process.env['PATH']
  process.env['PATH'] = `${repository}:${path}`
  t.teardown(() => { process.env['PATH'] = path })
  const out = join(repository, '../out')
  await unpackInto(out, gitArchive(`file://${repository}`, signed, `${out}.git`))
  for (const [name, content] of Object.entries({ ...plain, ...attributes })) t.equal(readFileSync(join(out, name), 'utf8'), content, name)
  t.notOk(existsSync(join(repository, 'gpg.ran')), 'gpg did not run')
})

t.test('a repository with a submodule is refused: an empty directory would stand in its place', async t => {
  const write = writer(t)
  const repository = write({ 'SKILL.md': skill('cards') }, 'repository')
  const git = gitIn(repository)
  git('', 'update-index', '--add', '--cacheinfo', `160000,${commitIn(repository)},scripts/lib`)
  git('', 'commit', '--quiet', '-m', 'second')
  const out = join(repository, '../out')
  await t.rejects(unpackInto(out, gitArchive(`file://${repository}`, git('', 'rev-parse', 'HEAD'), `${out}.git`)), { message: /"scripts\/lib" of file:.* is a submodule/ })
  t.same([existsSync(out), existsSync(`${out}.git`)], [false, false])
})

t.test('a repository whose commit has billions of files is refused before git reads them all', async t => {
  const write = writer(t)
  const repository = write({ 'SKILL.md': skill('cards') }, 'repository')
  commitIn(repository)
  const git = gitIn(repository)
  let tree = git('', 'rev-parse', 'HEAD^{tree}')
  for (let level = 0; level < 10; level++) tree = git(Array.from({ length: 10 }, (_, at) => `040000 tree ${tree}\td${at}\n`).join(''), 'mktree')
  const commit = git('', 'commit-tree', tree, '-m', 'many')
  git('', 'update-ref', 'HEAD', commit)
  await t.rejects(unpackInto(join(repository, '../out'), gitArchive(`file://${repository}`, commit, join(repository, '../fetched'))), { message: /has more than 20000 files and directories in that commit/ })
})
