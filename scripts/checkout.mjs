/**
 * Brings a checkout to the point where its programs can run. Everything here needs Node's standard library alone,
 * because it runs before there is a node_modules directory.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeFault } from '../apps/cli/bin/node-version.js'

/** The top directory of the checkout. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** The compiler. openapi-typescript needs an older one, whose `tsc` has the place in `.bin`. */
export const tsc = join(root, 'node_modules/typescript-7/bin/tsc')

/** Ends the process with a message when its Node.js is too old. */
export function checkNode () {
  const fault = nodeFault()
  if (fault !== undefined) fail(fault)
}

/** Runs `npm ci` when dependencies are missing or older than package-lock.json. In a terminal npm shows how far it is; elsewhere its output shows only if it fails. */
export function installDependencies () {
  const installed = modifiedAt('node_modules/.package-lock.json')
  if (installed !== 0 && installed >= modifiedAt('package-lock.json')) return
  console.log('Installing dependencies with npm ci ...')
  // The build needs the development dependencies too, which NODE_ENV=production would leave out.
  run('npm', ['ci', '--include=dev'], 'The dependencies could not be installed.', process.stdout.isTTY)
}

/**
 * Compiles what changed since the last build.
 *
 * @param {string[]} projects directories with a tsconfig.json, relative to the root; none means all of them
 */
export function build (projects = []) {
  if (!existsSync(join(root, 'apps/cli/dist'))) console.log('Building ...')
  run(process.execPath, [tsc, '-b', ...projects], 'The build failed.')
  buildConsole()
}

/** Builds the console, the page at `/`, when what it is made of changed. Without it the API serves all but that page, and says so there. */
function buildConsole () {
  const sources = readdirSync(join(root, 'apps/console/src'), { recursive: true, encoding: 'utf8' }).map(path => `apps/console/src/${path}`)
  const made = ['apps/console/index.html', 'apps/console/vite.config.ts', 'packages/contract/dist/.tsbuildinfo', 'packages/client/dist/.tsbuildinfo']
  const built = modifiedAt('apps/api/dist/console/index.html')
  if ([...sources, ...made].every(path => modifiedAt(path) < built)) return
  const { status, stdout, stderr } = spawnSync(process.execPath, [binary('vite'), 'build', 'apps/console', '--logLevel', 'warn'], { cwd: root, encoding: 'utf8' })
  if (status !== 0) console.error(`${stdout}${stderr}The console, the page at /, could not be built: Vite needs Node.js 20.19 or newer.`)
}

/**
 * The path of a program that a dependency brings, to be run by Node.js.
 *
 * @param {string} name
 */
export function binary (name) {
  return join(root, 'node_modules/.bin', name)
}

/** @param {string} path relative to the root; 0 when there is no such file */
function modifiedAt (path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} problem what to say when it fails
 * @param {boolean} shown whether its output goes to the terminal as it comes
 */
function run (program, args, problem, shown = false) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: root, stdio: shown ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'], encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status === 0) return
  fail(`${stdout ?? ''}${stderr ?? ''}${problem}${error === undefined ? '' : ` ${error.message}`}`)
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail (message) {
  console.error(message)
  process.exit(1)
}
