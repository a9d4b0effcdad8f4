import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { archiveOf, headerOf, paxOf, type ArchivePart } from './archive-parts.ts'
import { archiveKeys, archiveService, refused, treeOf } from './archive-service.ts'

const { client, url, at, ask, sessionsDir, aside, make, putArchive } = await archiveService()

t.test('an archive with anything but files and directories, or a name that no path may have, is refused there', async t => {
  const outside = join(aside, 'outside')
  const hostile: Record<string, { part: ArchivePart, says: RegExp }> = {
    'a way up': { part: { name: '../up' }, says: /"\.\." is not allowed in a path/ },
    'a way up in the middle': { part: { name: 'a/../../up' }, says: /"\.\." is not allowed/ },
    'a path from the root': { part: { name: outside }, says: /has a path from the root/ },
    'a path from the root in an extended header': { part: { name: outside, isExtended: true }, says: /has a path from the root/ },
    'a symbolic link': { part: { name: 'link', type: '2', link: outside }, says: /"link": is a symbolic link: an archive may have files and directories only/ },
    'a hard link': { part: { name: 'link', type: '1', link: '/etc/passwd' }, says: /is a hard link/ },
    'a device': { part: { name: 'null', type: '3' }, says: /is a device/ },
    'a block device': { part: { name: 'disk', type: '4' }, says: /is a device/ },
    'a FIFO': { part: { name: 'fifo', type: '6' }, says: /is a FIFO/ },
    'a sparse file': { part: { name: 'sparse', type: 'S' }, says: /is a sparse file/ },
    'an unknown type': { part: { name: 'odd', type: 'Z' }, says: /is of an unknown type/ },
    'a newline': { part: { name: 'a\nb' }, says: /has a control character/ },
    'a NUL in an extended header': { part: { name: 'a\0b', isExtended: true }, says: /has a control character/ },
    'a name of 300 bytes': { part: { name: 'x'.repeat(300) }, says: /has more than 255 bytes/ },
    'a name of a file in the making': { part: { name: `dir/.toolyard-${'0'.repeat(32)}.tmp` }, says: /leads to a file of the service/ },
    'a directory of such a name': { part: { name: `.toolyard-${'0'.repeat(32)}.tmp/`, type: '5' }, says: /leads to a file of the service/ },
    'an empty name in the middle': { part: { name: 'a//b' }, says: /"" is empty/ },
    'no name': { part: { name: '' }, says: /is empty/ },
    'too many levels': { part: { name: `${'d/'.repeat(80)}f` }, says: /deeper than 64 levels/ },
    'a file that takes the place of a directory': { part: { name: 'before' }, says: /There is a directory/ },
    'a directory that takes the place of a file': { part: { name: 'before/file/', type: '5' }, says: /There is something that is no directory/ }
  }
  const id = await make()
  for (const [what, { part, says }] of Object.entries(hostile)) {
    const answer = await refused(await putArchive(`sessions/${id}/files`, archiveOf([{ name: 'before/file', content: Buffer.from(what) }, part, { name: 'after' }])))
    t.match(answer, { code: /^VALIDATION_ERROR|CONFLICT|FORBIDDEN$/, message: says }, what)
    t.match(answer.message, /What came before stays: 1 files, 0 directories$/, what)
    t.same(treeOf(at(id)), { 'before/': '', 'before/file': Buffer.from(what).toString('base64') }, what)
  }
  t.notOk(existsSync(outside) || existsSync(at('up')))
})

t.test('no link of the session leads what is unpacked out of it', async t => {
  const id = await make()
  await ask('PUT', `sessions/${id}/files/first`, { body: 'x' })
  const outside = mkdtempSync(join(tmpdir(), 'toolyard-outside-'))
  t.teardown(() => { rmSync(outside, { recursive: true }) })
  symlinkSync(outside, at(id, 'way-out'))
  t.match(await refused(await putArchive(`sessions/${id}/files`, archiveOf([{ name: 'way-out/planted' }]))), { status: 400, message: /path escapes workspace root/ })
  t.match(await refused(await putArchive(`sessions/${id}/files`, archiveOf([{ name: 'way-out/dir/', type: '5' }]))), { status: 400 })
  t.same(readdirSync(outside), [])
})

t.test('what is no whole archive is told, and what came before the fault stays', async t => {
  const id = await make()
  const path = `sessions/${id}/files`
  const whole = archiveOf([{ name: 'a', content: Buffer.alloc(2_000, 1) }, { name: 'b', content: Buffer.alloc(2_000, 2) }])
  const broken: Record<string, { body: Buffer, says: RegExp, stays: string[] }> = {
    'no archive': { body: Buffer.alloc(2_000, 0x61), says: /is not a whole tar archive/, stays: [] },
    empty: { body: Buffer.alloc(0), says: /must be a tar archive|is cut off/, stays: [] },
    'cut in a header': { body: whole.subarray(0, 300), says: /is cut off\. Nothing was unpacked$/, stays: [] },
    'cut in a file': { body: whole.subarray(0, 1_000), says: /is cut off\. Nothing was unpacked$/, stays: [] },
    'cut between entries': { body: whole.subarray(0, 2_560), says: /is cut off\. What came before stays: 1 files/, stays: ['a'] },
    'cut in the second file': { body: whole.subarray(0, 4_000), says: /is cut off\. What came before stays: 1 files/, stays: ['a'] },
    'half an end': { body: whole.subarray(0, -512), says: /is cut off\. What came before stays: 2 files/, stays: ['a', 'b'] },
    'a size that is too small': { body: Buffer.concat([headerOf({ name: 'a', size: 10 }), Buffer.alloc(1_024, 0x31), Buffer.alloc(1_024)]), says: /wrong checksum/, stays: ['a'] },
    'a size that is too large': { body: Buffer.concat([headerOf({ name: 'a', size: 1e9 }), Buffer.alloc(4_096)]), says: /is cut off/, stays: [] },
    'a size below zero': { body: Buffer.concat([headerOf({ name: 'a', sizeField: Buffer.from('fffffffffffffffffffffffe', 'hex') }), Buffer.alloc(2_048)]), says: /a number that is none/, stays: [] },
    'a size beyond all numbers': { body: Buffer.concat([headerOf({ name: 'a', sizeField: Buffer.from('80ffffffffffffffffffffff', 'hex') }), Buffer.alloc(2_048)]), says: /too large/, stays: [] },
    'a size in an extended header that is none': { body: Buffer.concat([paxOf({ size: '-1' }), headerOf({ name: 'a' }), Buffer.alloc(1_024)]), says: /a number that is none/, stays: [] },
    'an extended header of megabytes': { body: Buffer.concat([headerOf({ name: 'x', type: 'x', size: 4_000_000 }), Buffer.alloc(4_000_256)]), says: /a header has 4000000 bytes, at most 65536/, stays: [] },
    'an extended header that is broken': { body: Buffer.concat([headerOf({ name: 'x', type: 'x', size: 9 }), Buffer.from('99 path=a'), Buffer.alloc(503 + 1_024)]), says: /extended header is broken/, stays: [] },
    'headers without end': { body: Buffer.concat([...Array.from({ length: 10 }, () => paxOf({ comment: 'x' })), Buffer.alloc(1_024)]), says: /too many headers/, stays: [] },
    'one name for all': { body: Buffer.concat([paxOf({ path: 'all' }, 'g'), headerOf({ name: 'a' }), Buffer.alloc(1_024)]), says: /one name or size/, stays: [] },
    'a sparse file': { body: Buffer.concat([paxOf({ 'GNU.sparse.major': '1' }), headerOf({ name: 'a' }), Buffer.alloc(1_024)]), says: /sparse file/, stays: [] }
  }
  for (const [what, { body, says, stays }] of Object.entries(broken)) {
    const answer = await refused(await putArchive(path, body))
    t.match(answer, { status: 400, code: 'VALIDATION_ERROR', message: says }, what)
    t.same(Object.keys(treeOf(at(id))), stays, what)
    await ask('DELETE', `${path}/a`)
    await ask('DELETE', `${path}/b`)
  }
})

t.test('bytes that are changed anywhere in an archive end in an answer, and put nothing elsewhere', async t => {
  const id = await make()
  const whole = archiveOf([{ name: 'dir/', type: '5' }, { name: 'dir/a', content: Buffer.alloc(700, 1) }, { name: 'ü'.repeat(60), content: Buffer.from('b') }])
  const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255))
  await fc.assert(fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async changes => {
    const body = Buffer.from(whole)
    for (const [place, byte] of changes) body[place] = byte
    const { status } = await putArchive(`sessions/${id}/files`, body)
    if (![200, 400, 409].includes(status)) throw new Error(`status ${status}`)
  }), { numRuns: 60 })
  t.same(readdirSync(sessionsDir).filter(name => name !== '.trash' && !/^[0-9a-f-]{36}$/.test(name)), [])
})

t.test('an archive is within the quota of its session, and what fits before stays', async t => {
  const id = await make({ quota_bytes: 100_000 })
  const part = (name: string): ArchivePart => ({ name, content: Buffer.alloc(30_000) })
  const over = await refused(await putArchive(`sessions/${id}/files`, archiveOf(['a', 'b', 'c', 'd'].map(part))))
  t.match(over, { status: 413, code: 'QUOTA_EXCEEDED', message: /The entry "d": The files of the session would take more than its quota of 100000 bytes\. What came before stays: 3 files/ })
  t.same(readdirSync(at(id)), ['a', 'b', 'c'])
  t.equal((await putArchive(`sessions/${id}/files`, archiveOf([part('a'), part('b')]))).status, 200, 'what is replaced makes room')
  const small = await make({ quota_bytes: 20_000 })
  const directories = Array.from({ length: 100 }, (_, n) => ({ name: `d${n}/`, type: '5' }))
  t.match(await refused(await putArchive(`sessions/${small}/files`, archiveOf(directories))), { status: 413, code: 'QUOTA_EXCEEDED' }, 'directories count')
})

t.test('an archive of more entries than may be is given up', async t => {
  const id = await make()
  const piece = Buffer.concat(Array.from({ length: 1_000 }, () => headerOf({ name: './', type: '5' })))
  let sent = 0
  const body = new ReadableStream({ pull (controller) { sent++ < 10_000 ? controller.enqueue(piece) : controller.close() } })
  const answer = await ask('PUT', `sessions/${id}/files?archive=tar`, { body, duplex: 'half' }).then(refused, () => undefined)
  if (answer !== undefined) t.match(answer, { status: 400, message: /is one too many: an archive may have 100000 entries/ })
  t.ok(sent < 10_000, `given up after ${sent * 1_000} entries`)
})

t.test('an archive that breaks off keeps the files before it, and gives back its session', async t => {
  const id = await make()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  const begun = Buffer.concat([headerOf({ name: 'whole', size: 1 }), Buffer.alloc(512, 0x61), headerOf({ name: 'part', size: 1e6 }), Buffer.alloc(100_000)])
  socket.write(`PUT /v1/sessions/${id}/files?archive=tar HTTP/1.1\r\nHost: a\r\nx-api-key: ${archiveKeys.acme}\r\nContent-Length: 2000000\r\n\r\n`)
  socket.write(begun)
  const own = (): string[] => existsSync(at(id)) ? readdirSync(at(id)).filter(name => name.startsWith('.toolyard-')) : []
  await waitFor('the second file in the making', () => existsSync(at(id, 'whole')) && own().length > 0)
  socket.destroy()
  await waitFor('nothing of it', () => own().length === 0)
  t.same(readdirSync(at(id)), ['whole'])
  t.equal((await client.request(`/v1/sessions/${id}`, { method: 'DELETE', key: archiveKeys.acme })).status, 202)
})

t.test('requests for archives of what is none are refused', async t => {
  const id = await make()
  const path = `sessions/${id}/files`
  await ask('PUT', `${path}/file`, { body: 'x' })
  t.match(await refused(await ask('GET', `${path}/file?archive=tar`)), { status: 409, message: 'This is no directory' })
  t.match(await refused(await ask('GET', `${path}/none?archive=tar`)), { status: 404 })
  t.match(await refused(await ask('GET', `${path}?archive=zip`)), { status: 400, message: "'archive' must be tar" })
  t.match(await refused(await ask('PUT', path, { body: 'x' })), { status: 409, message: 'There is a directory' })
  t.match(await refused(await ask('PUT', `${path}?archive=tar`)), { status: 400, message: 'The body must be a tar archive' })
  t.match(await refused(await ask('PUT', `${path}?archive=tar`, { body: 'x', headers: { 'if-match': '*' } })), { status: 400, message: /without the header if-match/ })
  t.equal((await putArchive(`${path}/file`, archiveOf([{ name: 'a' }]))).status, 404)
})
