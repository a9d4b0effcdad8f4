import { validateManifests } from '@toolyard/manifests'
import type { FetchPolicy } from '@toolyard/executors'
import { execFileSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startWebServer } from '../builtin/web-server.ts'
import { leavesLoopFree } from '../event-loop/longest-turn.ts'
import { createFixture } from '../executors/fixture.ts'
import { python } from '../python/fixture.ts'

const hostile = join(import.meta.dirname, '../../../samples/hostile')
const toLoopback: NonNullable<FetchPolicy['lookup']> = (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) }

void t.test('promise 10: neither the edit nor the page that a hostile tool prepares blocks the worker', { skip: python.skip }, async t => {
  const fixture = createFixture(t, { builtins: { fetch: { allowlist: ['*'], allowHttp: true, allowPrivate: true, lookup: toLoopback } } })
  const lay = (what: string): string => execFileSync(join(hostile, 'tools/bin/burden.py'), { cwd: fixture.workspace, input: JSON.stringify({ what }), encoding: 'utf8' })
  const edit = JSON.parse(lay('edit')) as Record<string, unknown>
  await leavesLoopFree(t, 'the edit', () => fixture.runBuiltinOnly('data.write_file', edit))
  const page = lay('page')
  t.ok(page.length > 1_000_000)
  const server = await startWebServer(t, (_request, response) => { response.setHeader('content-type', 'text/html').end(page) })
  await leavesLoopFree(t, 'the page', () => fixture.runBuiltinOnly('data.fetch', { url: `http://site.test:${server.port}`, max_bytes: 2_097_152 }))
})

void t.test('A11 X21 misspelt protections and linked programs of a hostile manifest are reported', async t => {
  const directory = t.testdir()
  cpSync(hostile, directory, { recursive: true })
  symlinkSync('/usr/bin/env', join(directory, 'tools/bin/linked'))
  const { findings } = await validateManifests([join(directory, 'misspelt.json')])
  t.match(findings.map(({ message, fix }) => `${message} ${fix ?? ''}`), [/sandbox is no known field/, /permission is no known field.*permissions/, /"linked" is a symbolic link out of tools\/bin/])
})
