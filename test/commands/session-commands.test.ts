import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { runToolyard, type Ran } from '../cli/toolyard.ts'

const here = t.testdir()
const service = await createService(t, {
  files: {
    'tools/bin/upper': '#!/bin/sh\ncat > /dev/null; tr a-z A-Z < in.txt > out.txt; echo {}',
    'tools/bin/forge': '#!/bin/sh\ncat > /dev/null; : > "$(printf "x\\nfile  1  y\\tz")"; echo {}'
  },
  tools: ['upper', 'forge'].map(name => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], permissions: ['read_repo', 'write_files'] }))
})
const env = { TOOLYARD_URL: service.api.address, TOOLYARD_API_KEY: testKeys.admin }
const run = (args: string[], input = ''): Promise<Ran> => runToolyard(args, { env, input, cwd: here })
const make = async (): Promise<string> => (await run(['sessions', 'make', '--ttl', '600'])).stdout.trim()

await t.test('a session is made, listed, shown and removed', async t => {
  const id = await make()
  t.match(await run(['sessions', 'list']), { status: 0, stdout: new RegExp(`^${id} {2}open {2}\\(no tenant\\) {2}0 of \\d+ bytes`, 'm') })
  t.match(JSON.parse((await run(['sessions', 'show', id])).stdout), { id, ttl_sec: 600 })
  t.match(await run(['sessions', 'rm', id]), { status: 0, stdout: `${id}  removing` })
  t.match(await run(['sessions', 'make', '--ttl', '1h']), { status: 2, stderr: "--ttl takes a whole number of seconds, not '1h'" })
  t.match(await run(['sessions', 'show', '01a00000-0000-7000-8000-000000000000']), { status: 4, stderr: 'NOT_FOUND' })
})

await t.test('a file goes into a session, is changed there by call, batch and jobs submit, and comes out', async t => {
  const id = await make()
  writeFileSync(join(here, 'in.txt'), 'some text')
  t.match(await run(['files', 'put', 'in.txt', '--session', id]), { status: 0, stdout: /^in\.txt {2}9 bytes {2}sha256 [\da-f]{64}\n$/ })
  t.match(await run(['call', 'upper', '--session', id]), { status: 0 })
  t.match(await run(['files', 'get', 'out.txt', '--session', id]), { status: 0, stdout: 'out.txt  9 bytes' })
  t.equal(readFileSync(join(here, 'out.txt'), 'utf8'), 'SOME TEXT')

  t.match(await run(['files', 'put', '-', 'in.txt', '--session', id], 'other text'), { status: 0 })
  t.match(await run(['batch', '-', '--session', id], JSON.stringify({ calls: [{ call_id: 'c', name: 'upper' }] })), { status: 0 })
  t.match(await run(['files', 'get', 'out.txt', '-', '--session', id]), { status: 0, stdout: /^OTHER TEXT$/ })

  t.match(await run(['files', 'put', '-', 'in.txt', '--session', id], 'third text'), { status: 0 })
  const job = (await run(['jobs', 'submit', 'agentcli.upper', '--session', id])).stdout.trim()
  t.match(await run(['jobs', 'logs', '-f', job]), { status: 0, stdout: 'succeeded' })
  t.match(await run(['files', 'get', 'out.txt', '-', '--session', id]), { stdout: /^THIRD TEXT$/ })
  t.match(await run(['jobs', 'list', '--session', id]), { stdout: job })
  t.equal((JSON.parse((await run(['jobs', 'retry', job, '--json'])).stdout) as { job: { session?: string } }).job.session, id, 'it is run again where it ran')
})

await t.test('all of a session comes out as an archive, and is unpacked elsewhere', async t => {
  const id = await make()
  for (const path of ['a.txt', 'below/b.txt']) await run(['files', 'put', '-', path, '--session', id], path)
  t.match(await run(['files', 'archive', 'all.tar', '--session', id]), { status: 0, stdout: /^all\.tar {2}\d+ bytes\n$/ })
  t.match(await run(['files', 'unpack', 'all.tar', 'copy', '--session', id]), { status: 0, stdout: '2 files, 1 directories, 16 bytes in copy' })
  t.match(await run(['files', 'list', 'copy', '--session', id]), { stdout: /^file .* copy\/a\.txt\ndirectory .* copy\/below\n$/ })
  t.match(await run(['files', 'rm', 'copy', '--session', id]), { status: 4, stderr: 'CONFLICT' })
  t.match(await run(['files', 'rm', '-r', 'copy', '--session', id]), { status: 0, stdout: 'Removed copy\n' })
  t.match(await run(['files', 'list', 'copy', '--session', id]), { status: 4, stderr: 'NOT_FOUND' })
})

await t.test('a name of a file that has line breaks is one line of the list', async t => {
  const id = await make()
  t.match(await run(['call', 'forge', '--session', id]), { status: 0 })
  t.match(await run(['files', 'list', '--session', id]), { stdout: /^file .* x\\nfile {2}1 {2}y\\tz\n$/ })
})

await t.test('without a session they are files of the shared workspace', async t => {
  t.match(await run(['files', 'get', 'README.md', '-']), { status: 0, stdout: '# A workspace\n' })
})

await t.test('a file that can\'t be had leaves nothing here, and one that can\'t be read says why', async t => {
  t.match(await run(['files', 'get', 'nothing.txt']), { status: 4, stderr: 'NOT_FOUND' })
  t.notOk(existsSync(join(here, 'nothing.txt')))
  t.match(await run(['files', 'get', 'README.md', 'no/such/place']), { status: 1, stderr: "no/such/place can't be written" })
  t.match(await run(['files', 'put', 'no-such-file']), { status: 2, stderr: "no-such-file can't be read" })
  t.match(await run(['files', 'put', '.']), { status: 2, stderr: 'it is a directory' })
  t.match(await run(['jobs', 'submit', 'agentcli.upper', '--input', '[1]']), { status: 2, stderr: '--input must be a JSON object' })
})
