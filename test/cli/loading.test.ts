import { spawnSync } from 'node:child_process'
import t from 'tap'
import { checkedOutProgram } from './toolyard.ts'

/** Prints the address of each module that is loaded. */
const loader = 'export async function load (url, context, next) { process._rawDebug(url); return next(url, context) }'
const register = `import { register } from 'node:module'; register('data:text/javascript,${encodeURIComponent(loader)}')`

t.test('a command loads what it needs: help reads no manifest and makes no request', async t => {
  for (const args of [['--help'], ['policy', '--help'], ['add', '--help'], ['jobs', 'list', '--help']]) {
    const { status, stderr } = spawnSync(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(register)}`, checkedOutProgram, ...args], { encoding: 'utf8' })
    t.equal(status, 0)
    const modules = stderr.split('\n').filter(line => line.startsWith('file:'))
    t.ok(modules.length > 50 && modules.length < 250, `${modules.length} modules for ${args.join(' ')}`)
    t.strictSame(modules.filter(url => /\/packages\/(?:manifests|executors|queue|store)\/|\/undici\//.test(url)), [])
  }
})
