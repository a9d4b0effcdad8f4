import { createServer } from 'node:http'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runToolyard } from '../cli/toolyard.ts'
import { listening } from '../support/listening.ts'

const ofShell = 'the-key-of-the-shell'
const ofFile = 'the-key-of-the-file'

/** Runs `toolyard tools` beside an `.env`, and returns the keys that the server at `port` got, and what was said. */
async function keysSent (
  t: Test, env: NodeJS.ProcessEnv, file: (port: number, cwd: string) => string, ofEnv: (port: number) => NodeJS.ProcessEnv = () => ({})
): Promise<{ keys: string[], stderr: string }> {
  const keys: string[] = []
  const server = createServer(({ headers }, response) => {
    keys.push(String(headers['x-api-key'] ?? headers.authorization ?? 'none'))
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"ok":false,"error":{"code":"UNAUTHORIZED","message":"no"}}')
  })
  const port = await listening(t, server)
  const cwd = t.testdir()
  writeFileSync(join(cwd, '.env'), file(port, cwd))
  const results = await Promise.all([['tools'], ['mcp']].map(args => runToolyard(args, { cwd, env: { ...env, ...ofEnv(port) }, input: args[0] === 'mcp' ? '{"jsonrpc":"2.0","id":1,"method":"ping"}\n' : '' })))
  return { keys: [...new Set(keys)], stderr: results[0]?.stderr ?? '' }
}

const keysOfShell: NodeJS.ProcessEnv[] = [{ TOOLYARD_API_KEY: ofShell }, { API_KEY: ofShell }, { API_KEYS_JSON: JSON.stringify([{ name: 'x', key: ofShell, role: 'admin' }]) }]

await t.test('no key of the environment goes to an address that .env says', async t => {
  const files = [(port: number) => `TOOLYARD_URL=http://127.0.0.1:${port}`, (port: number) => `PORT=${port}`, (port: number) => `HOST=127.0.0.1\nPORT=${port}`]
  for (const [at, file] of files.entries()) {
    const env = keysOfShell[at] ?? {}
    const { keys, stderr } = await keysSent(t, env, file)
    t.strictSame(keys, [], Object.keys(env).join())
    t.match(stderr, /only a key is sent that is in \.env.*set TOOLYARD_URL there, too/)
  }
})

await t.test('a key of .env never takes the place of one that the environment gives for the same call', async t => {
  const { keys, stderr } = await keysSent(t, { TOOLYARD_API_KEY: ofShell }, port => `TOOLYARD_URL=http://127.0.0.1:${port}\nAPI_KEY=${ofFile}\nTOOLYARD_API_KEY=${ofFile}`)
  t.strictSame(keys, [])
  t.match(stderr, /For TOOLYARD_API_KEY of the environment, or of another file, set TOOLYARD_URL there, too/)
  t.strictSame((await keysSent(t, { TOOLYARD_API_KEY: ofFile }, port => `PORT=${port}\nAPI_KEY=${ofFile}`)).keys, [ofFile], 'the same key in both')
})

await t.test('a key of .env goes to its address, and a key of the environment to that of the environment', async t => {
  for (const name of ['TOOLYARD_API_KEY', 'API_KEY']) t.strictSame((await keysSent(t, {}, port => `TOOLYARD_URL=http://127.0.0.1:${port}\n${name}=${ofFile}`)).keys, [ofFile], name)
  for (const env of keysOfShell) t.strictSame((await keysSent(t, env, () => '', port => ({ TOOLYARD_URL: `http://127.0.0.1:${port}` }))).keys, [ofShell])
  t.strictSame((await keysSent(t, {}, () => `TOOLYARD_API_KEY=${ofFile}`, port => ({ TOOLYARD_URL: `http://127.0.0.1:${port}` }))).keys, [ofFile])
})

await t.test('a key in a file that .env names goes to an address of .env only from below its directory', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-elsewhere-'))
  t.teardown(() => { rmSync(directory, { recursive: true }) })
  const elsewhere = join(directory, 'token')
  writeFileSync(elsewhere, 'a-token-of-the-user')
  const sent = async (path: string): Promise<{ keys: string[], stderr: string }> => await keysSent(t, {}, (port, cwd) => {
    writeFileSync(join(cwd, 'own'), 'the-key-of-the-project')
    symlinkSync(elsewhere, join(cwd, 'link'))
    return `PORT=${port}\nAPI_KEY_FILE=${path}`
  })
  for (const path of [elsewhere, './link']) {
    const { keys, stderr } = await sent(path)
    t.strictSame(keys, [], path)
    t.match(stderr, /only a key is sent that is in \.env, or in a file below its directory/)
  }
  t.strictSame((await sent('./own')).keys, ['the-key-of-the-project'])
})

await t.test('the console of an address of .env is opened whatever keys the environment has, as none is sent', async t => {
  const cwd = t.testdir({ '.env': 'PORT=4001' })
  for (const env of keysOfShell) t.match(await runToolyard(['open', '--json'], { cwd, env }), { status: 0, stdout: '{"ok":true,"url":"http://127.0.0.1:4001/"}' })
})
