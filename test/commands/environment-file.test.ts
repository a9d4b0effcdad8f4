import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startSession } from '../cli/start-session.ts'

await t.test('a new key is added to a file without touching the rest', async t => {
  const directory = t.testdir({ '.env': '# mine\nLOG_LEVEL=warn\nREDACT="a b"' })
  await startAndStop(t, directory)
  t.match(read(directory), /^# mine\nLOG_LEVEL=warn\nREDACT="a b"\nAPI_KEY=[\w-]{43}\n$/)
  t.equal(statSync(join(directory, '.env')).mode & 0o777, 0o600)
})

await t.test('a new key takes the place of an empty one', async t => {
  const directory = t.testdir({ '.env': 'API_KEY=\nLOG_LEVEL=warn\n' })
  await startAndStop(t, directory)
  t.match(read(directory), /^API_KEY=[\w-]{43}\nLOG_LEVEL=warn\n$/)
})

await t.test('a second start uses the key of the first', async t => {
  const directory = t.testdir()
  await startAndStop(t, directory)
  const key = read(directory)
  t.notMatch(await startAndStop(t, directory), 'made just now')
  t.equal(read(directory), key)
})

await t.test('no key is made when one is configured', async t => {
  for (const env of [{ API_KEY: 'mine' }, { API_KEYS_JSON: '[{"key":"mine","role":"admin"}]' }]) {
    const directory = t.testdir({ '.env': 'LOG_LEVEL=warn\n' })
    t.notMatch(await startAndStop(t, directory, env), 'mine')
    t.equal(read(directory), 'LOG_LEVEL=warn\n')
  }
})

await t.test('no key is made or needed when authentication is off', async t => {
  const directory = t.testdir({ '.env': 'API_AUTH_DISABLED=1\n' })
  t.notMatch(await startAndStop(t, directory), 'x-api-key')
  t.equal(read(directory), 'API_AUTH_DISABLED=1\n')
})

await t.test('a workspace that exists stays as it is', async t => {
  const directory = t.testdir({ workspace: { 'mine.txt': 'mine' } })
  await startAndStop(t, directory)
  t.strictSame(statSync(join(directory, 'workspace/README.md'), { throwIfNoEntry: false }), undefined)
})

async function startAndStop (t: Parameters<typeof startSession>[0], directory: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const session = startSession(t, directory, env)
  await session.printed('Ctrl-C stops everything')
  session.signal('SIGTERM')
  t.equal(await session.exited, 0)
  return session.output()
}

function read (directory: string): string {
  return readFileSync(join(directory, '.env'), 'utf8')
}
