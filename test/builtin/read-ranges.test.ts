import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFixture, outputOf, type Fixture } from '../executors/fixture.ts'

async function read (fixture: Fixture, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  return outputOf(await fixture.runBuiltin('data.file_read', args)) as Record<string, unknown>
}

t.test('RC36 a range of lines is read, and the answer says where the next one begins', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'text'), 'one\ntwo\r\nthree\nfour')
  t.match(await read(fixture, { path: 'text', start_line: 2, max_lines: 2 }), { content_text: 'two\r\nthree\n', start_line: 2, end_line: 3, next_start_line: 4, truncated: true, bytes_read: 11, total_bytes: 19 })
  const rest = await read(fixture, { path: 'text', start_line: 4 })
  t.match(rest, { content_text: 'four', start_line: 4, end_line: 4, truncated: false })
  t.notOk('next_start_line' in rest)
  t.match(await read(fixture, { path: 'text', max_lines: 1 }), { content_text: 'one\n', start_line: 1, end_line: 1, next_start_line: 2 })
  t.match(await read(fixture, { path: 'text', start_line: 5 }), { content_text: '', truncated: false, start_line: 5, end_line: 4 }, 'after the end there is nothing')
  t.match(await read(fixture, { path: 'text', start_line: 1, max_lines: 100 }), { content_text: 'one\ntwo\r\nthree\nfour', end_line: 4, truncated: false })
})

t.test('RC36 lines that do not fit into max_bytes are left for the next range, and a longer line is cut', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'text'), `${'a'.repeat(300)}\n${'b'.repeat(300)}\n${'é'.repeat(700)}\nend\n`)
  t.match(await read(fixture, { path: 'text', start_line: 1, max_bytes: 512 }), { content_text: `${'a'.repeat(300)}\n`, end_line: 1, next_start_line: 2 })
  t.match(await read(fixture, { path: 'text', start_line: 3, max_bytes: 513 }), { content_text: 'é'.repeat(256), truncated: true, next_start_byte: 602 + 512 })
})

t.test('RC36 all lines of a large file are read range by range, as they are', async t => {
  const fixture = createFixture(t)
  const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index} ${'x'.repeat(index % 40)}\n`)
  writeFileSync(join(fixture.workspace, 'text'), lines.join(''))
  let start: unknown = 1
  let text = ''
  while (start !== undefined) {
    const part = await read(fixture, { path: 'text', start_line: start })
    text += String(part['content_text'])
    start = part['next_start_line']
  }
  t.ok(text === lines.join(''))
  t.match(await read(fixture, { path: 'text', start_line: 29_999, max_lines: 1 }), { content_text: lines[29_998] })
})

t.test('RC36 a range of bytes begins and ends with whole characters', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'text'), 'ab€'.repeat(400))
  t.match(await read(fixture, { path: 'text', start_byte: 3, max_bytes: 512 }), { start_byte: 5, content_text: 'ab€'.repeat(102), next_start_byte: 515 })
  t.match(await read(fixture, { path: 'text', start_byte: 1_995 }), { content_text: 'ab€', truncated: false })
  t.match(await read(fixture, { path: 'text', start_byte: 5_000 }), { content_text: '', truncated: false })
})

t.test('RC36 a binary file is refused as text and read as base64', async t => {
  const fixture = createFixture(t)
  const bytes = Buffer.from([0x89, 0x50, 0x00, 0xff, 0x0a])
  writeFileSync(join(fixture.workspace, 'image'), bytes)
  t.same(await fixture.runBuiltin('data.file_read', { path: 'image' }), { ok: false, error: { code: 'TOOL_FAILED', message: 'file is binary (set encoding to "base64" to read it all the same)' } })
  t.match(await read(fixture, { path: 'image', encoding: 'base64' }), { content_base64: bytes.toString('base64'), bytes_read: 5 })
})

t.test('RC36 bytes that are no UTF-8 are replaced, and the answer says so', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'latin'), Buffer.from('caf\xe9', 'latin1'))
  writeFileSync(join(fixture.workspace, 'real'), 'a real \ufffd')
  t.match(await read(fixture, { path: 'latin' }), { content_text: 'caf\ufffd', invalid_utf8: true })
  t.notOk('invalid_utf8' in await read(fixture, { path: 'real' }))
})

t.test('RC36 the path of an existing file may start with workspace/', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), 'x')
  t.match(await read(fixture, { path: 'workspace/file' }), { path: 'file', content_text: 'x' })
})
