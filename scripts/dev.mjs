/**
 * `npm run dev`: `npm start` that follows the sources. What changes is compiled, and when all of it compiles, the API, the
 * worker and Redis are started again. Arguments go to `toolyard start`.
 */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, watch } from 'node:fs'
import { binary, build, checkNode, installDependencies, root, tsc } from './checkout.mjs'

checkNode()
process.chdir(root)
installDependencies()
build(['apps/cli'])
// The API serves what it writes; `npx vite apps/console` has a server of its own that loads changes into the open page.
const pages = spawn(process.execPath, [binary('vite'), 'build', 'apps/console', '--watch', '--logLevel', 'warn'], { stdio: 'inherit' })

/** @type {import('node:child_process').ChildProcess | undefined} */
let service
let work = Promise.resolve()
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => { pages.kill(); void stop().finally(() => process.exit(0)) })

for (const part of ['apps', 'packages']) {
  for (const name of readdirSync(part)) {
    if (existsSync(`${part}/${name}/src`)) watch(`${part}/${name}/src`, { recursive: true }, compileSoon)
  }
}
// Hosts of Python tools run these, and nothing compiles them.
watch('packages/executors/python', { recursive: true }, (_event, name) => { if (name?.endsWith('.py')) restart() })
restart()

/** @type {NodeJS.Timeout | undefined} */
let soon

/** An editor writes a file in several steps, and often several files. */
function compileSoon () {
  clearTimeout(soon)
  soon = setTimeout(compile, 100)
}

function compile () {
  work = work.then(async () => {
    const compiler = spawn(process.execPath, [tsc, '-b', 'apps/cli'], { stdio: 'inherit' })
    const status = await new Promise(resolve => compiler.once('exit', resolve))
    if (status === 0) restart()
    else console.log('What compiled before goes on. It is started again when everything compiles.')
  })
}

function restart () {
  work = work.then(stop).then(() => {
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
