import { execFileSync, type StdioOptions } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Outcome } from '@toolyard/executors'
import type { CommandRun } from '@toolyard/manifests'
import { outputOf } from './fixture.ts'

const plainWorker = join(import.meta.dirname, 'plain-worker.js')

/** Runs a command in a worker that has exactly this environment, and these descriptors. */
function runIn (env: Record<string, string>, run: Pick<CommandRun, 'program'> & Partial<CommandRun>, stdio: StdioOptions = ['ignore', 'pipe', 'inherit']): unknown {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const command: CommandRun = { kind: 'command', args: [], envPassthrough: [], ...run }
  const printed = execFileSync('/usr/bin/env', ['-i', ...variables, process.execPath, plainWorker, JSON.stringify(command)], { stdio, encoding: 'utf8' })
  return outputOf(JSON.parse(printed) as Outcome)
}

const lines = (output: unknown): string[] => String(output).split('\n').sort()

t.test('A23 A41 X19 the environment is PATH, HOME and a locale with UTF-8, and nothing else of the worker', async t => {
  // Node by itself would add its coverage directory to every child.
  const env = { PATH: '/usr/bin:/bin', HOME: '/home/someone', LANG: 'de_DE', LC_ALL: 'C', API_KEY: 'secret', REDIS_URL: 'redis://x', API_KEYS_JSON: '[]', NODE_V8_COVERAGE: t.testdir() }
  t.same(lines(runIn(env, { program: '/usr/bin/env' })), ['HOME=/home/someone', 'LANG=C.UTF-8', 'PATH=/usr/bin:/bin'])
})

t.test('X19 no secret of the service is passed, whatever a manifest says', async t => {
  const env = { API_KEY: 'k', API_KEYS_JSON: '[]', REDIS_URL: 'redis://:pw@h', CALLBACK_SECRET: 's', WEB_SEARCH_BRAVE_KEY: 'b', REDIS_PASSWORD_FILE: '/run/secrets/redis', WEATHER_API_KEY: 'own' }
  t.same(lines(runIn(env, { program: '/usr/bin/env', envPassthrough: Object.keys(env) })), ['LANG=C.UTF-8', 'WEATHER_API_KEY=own'])
})

t.test('A24 AC15 a name of envPassthrough is passed when it exists, also when it is empty', async t => {
  const env = { PATH: '/usr/bin', HOME: '/h', TZ: 'Europe/Helsinki', EMPTY: '', OTHER: 'no' }
  t.same(lines(runIn(env, { program: '/usr/bin/env', envPassthrough: ['TZ', 'EMPTY', 'MISSING', 'PATH'] })), ['EMPTY=', 'HOME=/h', 'LANG=C.UTF-8', 'PATH=/usr/bin', 'TZ=Europe/Helsinki'])
})

t.test('A24 envPassthrough may replace the locale', async t => {
  const env = { LANG: 'fi_FI.UTF-8', LC_ALL: 'C' }
  t.same(lines(runIn(env, { program: '/usr/bin/env', envPassthrough: ['LANG', 'LC_ALL'] })), ['LANG=fi_FI.UTF-8', 'LC_ALL=C'])
})

t.test('a tool reads a letter of several bytes as one, whatever the locale of the service is', async t => {
  const program = '/bin/sh'
  t.same(runIn({ PATH: '/usr/bin:/bin', LC_ALL: 'C' }, { program, args: ['-c', 'echo "ünïcode" | grep -io "ÜN.CODE"'] }), 'ünïcode')
})

t.test('AC15 PATH and HOME are left out when they are empty or missing', async t => {
  t.same(runIn({ PATH: '' }, { program: '/usr/bin/env' }), 'LANG=C.UTF-8')
})

t.test('a tool gets no descriptor that the worker was started with', { skip: process.platform !== 'linux' }, async t => {
  const secret = openSync(plainWorker, 'r')
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit', ...Array.from({ length: 17 }, () => 'ignore' as const), secret]
  // `ls` itself opens the directory, as 3.
  t.same(lines(runIn({}, { program: '/bin/ls', args: ['/proc/self/fd'] }, stdio)), ['0', '1', '2', '3'])
  closeSync(secret)
})
