import { createHash } from 'node:crypto'
import t from 'tap'
import type { CallResult, InvokeBatchResponse, JobView } from '@toolyard/contract'
import { submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { hasPython } from '../support/python.ts'
import { bundleOf, createService } from '../support/service.ts'

t.setTimeout(180_000)

const shell = '#!/bin/sh\nread -r line\neval "$(printf %s "$line" | sed -e \'s/^{"script":"//\' -e \'s/"}$//\')"\n'
const python = `from toolyard import Tool

class Write(Tool):
    def execute(self, path):
        open(path, "w").write("by python")
`
const service = await createService(t, {
  files: {
    'tools/bin/shell': shell,
    'bundle/write.py': python,
    'bundle/manifest.json': bundleOf({ name: 'py_write', description: 'Writes a file', module: 'write', inputs: { path: { type: 'string' } }, permissions: ['write_files'] })
  },
  tools: [
    { name: 'shell', schema: { type: 'object' }, command: ['./tools/bin/shell'], timeoutSec: 60 },
    { name: 'look', schema: { type: 'object' }, command: ['./tools/bin/shell'], permissions: ['read_repo'] }
  ],
  manifests: ['tools.json', 'bundle/manifest.json']
})
const { client } = service

async function batch (session: string | undefined, name: string, args: object): Promise<InvokeBatchResponse> {
  return await client.batch([{ call_id: 'c', name, arguments: args }], { wait_ms: 60_000, session })
}

async function call (session: string | undefined, name: string, args: object): Promise<CallResult> {
  return await client.call(name, args, { wait_ms: 60_000, session })
}
const run = async (session: string | undefined, script: string): Promise<CallResult> => await call(session, 'shell', { script })
const paths = ({ files }: CallResult): string[] => (files ?? []).map(({ path }) => path)
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
/** Longer than a step of the clock of any file system. */
const later = async (): Promise<void> => { await run(undefined, 'sleep 0.05') }

t.test('an answer names the files that a call made or changed, to the caller and to the model', async t => {
  const id = await client.session()
  const { results: [result], tool_messages: [message] } = await batch(id, 'shell', { script: 'mkdir out; echo one > out/a.csv; printf %%PDF-1.7 > b' })
  t.same(result?.files, [
    { path: 'b', size: 8, type: 'application/pdf', sha256: hashOf('%PDF-1.7') },
    { path: 'out/a.csv', size: 4, type: 'text/csv', sha256: hashOf('one\n') }
  ])
  t.same((JSON.parse(message?.content ?? '') as CallResult).files, [{ path: 'b', size: 8, type: 'application/pdf' }, { path: 'out/a.csv', size: 4, type: 'text/csv' }])
  await later()
  t.same(paths(await run(id, 'echo two >> out/a.csv')), ['out/a.csv'])
  await later()
  t.same(paths(await run(id, 'mv out moved; rm b')), ['moved/a.csv'], 'what is in a directory that was moved has other paths')
  await later()
  t.notOk('files' in await run(id, 'cat moved/a.csv'), 'a call that changes nothing names nothing')
})

t.test('built-in and Python tools say their files as well, and a call without a session says none', { skip: !hasPython }, async t => {
  const id = await client.session()
  t.same(paths(await call(id, 'data_write_file', { path: 'sub/one.txt', content: 'x', create_if_missing: true, mkdir_p: true })), ['sub/one.txt'])
  await later()
  t.match((await call(id, 'py_write', { path: 'two.txt' })).files, [{ path: 'two.txt', size: 9, sha256: hashOf('by python') }])
  t.notOk('files' in await run(undefined, 'echo x > shared'))
})

t.test('a job has its files, and its stream too', async t => {
  const id = await client.session()
  const job = await submit(client, { type: 'agentcli.shell', input: { script: 'echo x > made.txt' }, session: id })
  const ended = await waitFor('it ended', async () => {
    const { body } = await client.request<{ job: JobView }>(`/v1/jobs/${job.id}`)
    return body.job.status === 'succeeded' ? body.job : undefined
  })
  t.match(ended.files, [{ path: 'made.txt', size: 2 }])
  const { text } = await client.request(`/v1/jobs/${job.id}/stream`)
  t.match(text, /"files":\[\{"path":"made.txt"/)
})

t.test('of many files a hundred are named, and the answer says that there are more', async t => {
  const id = await client.session()
  const many = await run(id, 'mkdir many; cd many; seq 1 3000 | xargs touch')
  t.equal(many.files?.length, 100)
  t.equal(many.more_files, true)
  await later()
  const few = await run(id, 'echo x > many/7')
  t.same([paths(few), few.more_files], [['many/7'], undefined])
})

t.test('in a session of many files, what changed is found after calls that changed nothing', async t => {
  const id = await client.session()
  await run(id, 'for d in a b c; do mkdir -p $d/$d; (cd $d/$d; seq 1 60 | xargs touch); done')
  for (const round of [1, 2, 3]) {
    await later()
    t.notOk('files' in await run(id, 'ls'), `nothing in round ${round}`)
    await later()
    t.same(paths(await run(id, `echo ${round} > b/b/7`)), ['b/b/7'], 'a file that was there')
    await later()
    t.same(paths(await run(id, `mkdir new${round}; echo x > new${round}/x`)), [`new${round}/x`], 'a file in a new directory')
  }
})

t.test('links are never followed to files outside, and every name in an answer can be asked for over HTTP', { skip: !hasPython }, async t => {
  const id = await client.session()
  await run(id, 'ln -s /etc/passwd passwd; ln -s /etc etc; mkfifo pipe')
  const names = paths(await run(id, 'echo x > plain; ln plain second; touch $(printf %0255d 1)'))
  t.same(names.filter(path => path.length < 255 && path !== 'plain' && path !== 'second'), [])
  t.ok(names.includes('plain') && names.includes('second'), 'hard links are two names')
  t.ok(names.some(path => path.length === 255))
  await later()
  const result = await call(id, 'py_write', { path: 'new\nline' })
  t.match([result.ok, paths(result), result.more_files], [true, [], true])
})

t.test('a file that is larger than the bound is named without a hash', async t => {
  const id = await client.session()
  const { files: [file] = [] } = await run(id, 'truncate -s 17000000 large.bin')
  t.same(file, { path: 'large.bin', size: 17_000_000, type: 'application/octet-stream' })
})

t.test('an answer never names files of another session', async t => {
  const [one, two] = [await client.session(), await client.session()]
  const results = await Promise.all([run(one, 'echo 1 > one'), run(two, 'echo 2 > two')])
  t.same(results.map(paths), [['one'], ['two']])
})
