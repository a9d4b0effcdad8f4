/**
 * `npm run dev`: `npm start` that follows the sources. What changes is compiled, and when all of it compiles, the API, the
 * worker and Redis are started again. Arguments go to `toolyard start`.
 */
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { binary, build, checkNode, installDependencies, root } from './checkout.mjs'

checkNode()
process.chdir(root)
installDependencies()
build(['apps/cli'])
// The API serves what it writes; `npx vite apps/console` has a server of its own that loads changes into the open page.
const pages = spawn(process.execPath, [binary('vite'), 'build', 'apps/console', '--watch', '--logLevel', 'warn'], { stdio: 'inherit' })

/** The code of the compiler's message `Found N errors`, of which 1 has another. */
const foundErrors = 6194
/** @type {import('node:child_process').ChildProcess | undefined} */
let service
let restarts = Promise.resolve()
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => { pages.kill(); stop().finally(() => process.exit(0)) })

const { default: ts } = await import('typescript')
const host = ts.createSolutionBuilderWithWatchHost(ts.sys, undefined, undefined, undefined, ({ code, messageText }, newLine) => {
  const text = ts.flattenDiagnosticMessageText(messageText, newLine)
  console.log(text)
  if (code === foundErrors && /\b0\b/.test(text)) restart()
})
ts.createSolutionBuilderWithWatch(host, ['apps/cli'], {}).build()
// Hosts of Python tools run these, and nothing compiles them.
watch('packages/executors/python', { recursive: true }, (_event, name) => { if (name?.endsWith('.py')) restart() })

function restart () {
  restarts = restarts.then(stop).then(() => {
    service = spawn(process.execPath, ['--enable-source-maps', 'apps/cli/bin/toolyard.js', 'start', ...process.argv.slice(2)], { stdio: 'inherit' })
  })
}

/** Lets running calls end, as SIGTERM does. */
async function stop () {
  const stopping = service
  service = undefined
  if (stopping === undefined || stopping.exitCode !== null || stopping.signalCode !== null) return
  await new Promise(resolve => { stopping.once('exit', resolve).kill('SIGTERM') })
}
