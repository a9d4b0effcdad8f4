import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { testKeys } from '../support/service.ts'
import { archiveOf, headerOf } from './archive-parts.ts'
import { archiveKeys, archiveService, treeOf } from './archive-service.ts'
import { anyCharacter } from '../support/any-character.ts'

const { at, ask, aside, env, make, putArchive, getArchive } = await archiveService()
const tar = (...args: string[]): Buffer => execFileSync('tar', args, { cwd: aside, maxBuffer: 1e9 })

t.test('an archive of tar itself goes in, and what comes out is unpacked by tar to the same', async t => {
  const id = await make()
  const source = join(aside, 'source')
  mkdirSync(join(source, 'deep', 'er'), { recursive: true })
  mkdirSync(join(source, 'empty'))
  writeFileSync(join(source, 'deep', 'er', 'data.bin'), randomBytes(300_001))
  writeFileSync(join(source, 'deep', `${'long'.repeat(60)} ü`), 'long')
  writeFileSync(join(source, 'nothing'), '')
  writeFileSync(join(source, 'run.sh'), '#!/bin/sh\n')
  chmodSync(join(source, 'run.sh'), 0o755)
  for (const format of ['gnu', 'pax']) {
    const put = await putArchive(`sessions/${id}/files/${format}`, tar('-C', source, `--format=${format}`, '-cf', '-', '.'))
    t.same([put.status, await put.json()], [200, { ok: true, archive: { path: format, files: 4, directories: 4, bytes: 300_015 } }])
    t.same(treeOf(at(id, format)), treeOf(source), format)
    t.equal(lstatSync(at(id, format, 'run.sh')).mode & 0o100, 0o100, 'what can be run stays so')
    t.equal(lstatSync(at(id, format, 'nothing')).mode & 0o111, 0)
    const out = join(aside, `out-${format}`)
    mkdirSync(out)
    writeFileSync(join(aside, 'out.tar'), await getArchive(`sessions/${id}/files/${format}`))
    tar('-C', out, '-xf', 'out.tar')
    t.same(treeOf(out), treeOf(source))
    t.equal(lstatSync(join(out, 'run.sh')).mode & 0o100, 0o100)
  }
  const head = await ask('HEAD', `sessions/${id}/files?archive=tar`, { key: archiveKeys.reads })
  t.same([head.status, head.headers.get('content-type'), head.headers.get('content-disposition')], [200, 'application/x-tar', "attachment; filename=\"files.tar\"; filename*=UTF-8''files.tar"])
})

t.test('what goes in comes out, whatever names and contents', async t => {
  const [from, to] = [await make(), await make()]
  const name = fc.oneof(fc.string({ minLength: 1, maxLength: 20, unit: anyCharacter }), fc.stringMatching(/^[a-c.]{1,3}$/), fc.string({ minLength: 90, maxLength: 200, unit: 'grapheme-ascii' }))
    .map(each => each.replaceAll(/[\p{Cc}/\ufffd]/gu, '_').replace(/^\.{1,2}$/, 'dots'))
    .filter(each => Buffer.byteLength(each) <= 255 && !/^\.toolyard-/.test(each))
  const files = fc.dictionary(fc.array(name, { minLength: 1, maxLength: 4 }).map(names => names.join('/')), fc.uint8Array({ maxLength: 1_500 }), { minKeys: 1, maxKeys: 6 })
  let round = 0
  await fc.assert(fc.asyncProperty(files, async wanted => {
    round += 1
    // No file is where others have a directory.
    const paths = Object.keys(wanted).filter(path => !Object.keys(wanted).some(other => other.startsWith(`${path}/`)))
    const parts = paths.map(path => ({ name: path, content: Buffer.from(wanted[path] ?? []) }))
    const put = await putArchive(`sessions/${from}/files/${round}`, archiveOf(parts))
    if (put.status !== 200) throw new Error(await put.text())
    const again = await putArchive(`sessions/${to}/files/${round}`, await getArchive(`sessions/${from}/files/${round}`))
    if (again.status !== 200) throw new Error(await again.text())
    const tree = treeOf(at(to, String(round)))
    for (const { name, content } of parts) if (tree[name] !== content.toString('base64')) throw new Error(`not the same: ${name}`)
    if (Object.keys(tree).filter(path => !path.endsWith('/')).length !== parts.length) throw new Error('more than went in')
  }), { numRuns: 30 })
  t.same(treeOf(at(to)), treeOf(at(from)))
})

t.test('the later of two entries with one name counts', async t => {
  const id = await make()
  const parts = ['one', 'two'].map(text => ({ name: './twice', content: Buffer.from(text) }))
  t.match(await (await putArchive(`sessions/${id}/files`, archiveOf(parts))).json(), { archive: { files: 2, bytes: 6 } })
  t.equal(readFileSync(at(id, 'twice'), 'utf8'), 'two')
})

t.test('an archive leaves out links, devices and names that no request can have', async t => {
  const id = await make()
  await ask('PUT', `sessions/${id}/files/kept/file`, { body: 'x' })
  symlinkSync('/etc/passwd', at(id, 'link'))
  execFileSync('mkfifo', [at(id, 'fifo')])
  writeFileSync(at(id, 'new\nline'), 'x')
  writeFileSync(at(id, `.toolyard-${'0'.repeat(32)}.tmp`), 'x')
  writeFileSync(join(aside, 'strange.tar'), await getArchive(`sessions/${id}/files`))
  t.same(String(tar('-tf', 'strange.tar')).trim().split('\n').sort(), ['kept/', 'kept/file'])
})

t.test('for other keys a session has no archive, and the shared workspace is for operators', async t => {
  const id = await make()
  const archive = archiveOf([{ name: 'a', content: Buffer.from('a') }])
  t.equal((await putArchive(`sessions/${id}/files`, archive, archiveKeys.other)).status, 404)
  t.equal((await putArchive(`sessions/${id}/files`, archive, archiveKeys.reads)).status, 403)
  t.equal((await ask('GET', `sessions/${id}/files?archive=tar`, { key: archiveKeys.other })).status, 404)
  t.equal((await putArchive('files', archive)).status, 403)
  t.equal((await ask('GET', 'files?archive=tar')).status, 403)
  t.equal((await putArchive('files', archive, testKeys.admin)).status, 200)
  t.equal(readFileSync(join(String(env['WORKSPACE_DIR']), 'a'), 'utf8'), 'a')
  t.match((await ask('GET', 'files?archive=tar', { key: testKeys.admin })).headers.get('content-type'), 'application/x-tar')
})

t.test('a large file in an archive takes no memory, in or out', async t => {
  const id = await make()
  await ask('PUT', `sessions/${id}/files/file`, { body: 'x' })
  const piece = randomBytes(1_048_576)
  const before = process.memoryUsage.rss()
  let most = before
  const look = setInterval(() => { most = Math.max(most, process.memoryUsage.rss()) }, 20)
  t.teardown(() => { clearInterval(look) })
  let sent = -1
  const body = new ReadableStream({
    pull (controller) {
      sent += 1
      if (sent === 0) controller.enqueue(headerOf({ name: 'large', size: 256 * 1_048_576 }))
      else if (sent <= 256) controller.enqueue(piece)
      else { controller.enqueue(Buffer.alloc(1_024)); controller.close() }
    }
  })
  t.match(await (await ask('PUT', `sessions/${id}/files?archive=tar`, { body, duplex: 'half' })).json(), { archive: { files: 1, bytes: 256 * 1_048_576 } })
  let got = 0
  for await (const each of (await ask('GET', `sessions/${id}/files?archive=tar`)).body ?? []) got += (each as Uint8Array).length
  t.equal(got, 256 * 1_048_576 + 4 * 512 + 512)
  t.ok(most - before < 200_000_000, `${Math.round((most - before) / 1e6)} MB more`)
  // A file that becomes shorter while it is sent.
  const reading = await ask('GET', `sessions/${id}/files?archive=tar`)
  await t.rejects(async () => {
    let read = 0
    for await (const each of reading.body ?? []) {
      read += (each as Uint8Array).length
      // By now the file was opened with its old size.
      if (read > 1_000_000) truncateSync(at(id, 'large'), 10)
    }
  }, 'the answer breaks off')
})
