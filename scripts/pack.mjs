/**
 * `npm run pack [DIRECTORY]`: builds everything and makes the tarballs that are published, in a directory (`packed/` when
 * none is named), and the wheel of the Python client where Python can build it (scripts/wheel.mjs; else it says why not), and prints
 * their paths. Nothing is written elsewhere in the checkout.
 *
 * The one of `toolyard` carries all that it needs in its `node_modules`, as the lockfile has it (docs/decisions/0066-one-tarball.md).
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { binary, build, checkNode, installDependencies, root } from './checkout.mjs'

const app = 'apps/cli'
const directory = resolve(process.argv[2] ?? join(root, 'packed'))
checkNode()
process.chdir(root)
installDependencies()
build()
/** @type {{packages: Record<string, {version?: string, link?: boolean, resolved?: string, optional?: boolean}>}} */
const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const work = mkdtempSync(join(tmpdir(), 'toolyard-pack-'))
try {
  const tarballs = packWorkspaces(work)
  const stage = join(work, 'stage')
  stageApp(stage, tarballs)
  run(process.execPath, [binary('rolldown'), '-c', 'apps/cli/rolldown.config.js', '--logLevel', 'warn'], { TOOLYARD_BUNDLED: realpathSync(stage) })
  mkdirSync(directory, { recursive: true })
  // No scripts here and below: `prepare` builds the tests, and no tarball has them.
  pack(directory, [stage])
  for (const [dir, tarball] of tarballs) if (dir !== app && readManifest(dir).private !== true) copyFileSync(tarball, join(directory, basename(tarball)))
  for (const name of readdirSync(directory).filter(name => name.endsWith('.tgz'))) console.log(join(directory, name))
} finally {
  rmSync(work, { recursive: true, force: true })
}
// 2: there is nothing to build it with, which it says.
const wheel = spawnSync(process.execPath, [join(root, 'scripts/wheel.mjs'), directory], { stdio: 'inherit' })
if (wheel.status !== 0 && wheel.status !== 2) process.exit(1)

/**
 * Packs what the `files` of each package of the workspace name.
 *
 * @param {string} directory
 * @returns {Map<string, string>} their tarballs by their directories
 */
function packWorkspaces (directory) {
  const names = new Map(pack(directory, ['--workspaces']).map(({ name, filename }) => [name, join(directory, filename)]))
  return new Map(Object.values(locked).filter(({ link }) => link === true).map(({ resolved = '' }) => [resolved, names.get(readManifest(resolved).name) ?? '']))
}

/**
 * Lays the package out as it is installed: its own files, the pages, so that messages can lead to them without a network, and below
 * them all that it depends on.
 *
 * @param {string} stage
 * @param {Map<string, string>} tarballs
 */
function stageApp (stage, tarballs) {
  unpack(tarballs.get(app), stage)
  const placed = new Map()
  for (const path of productionPaths()) {
    const { link, resolved = '', optional } = locked[path] ?? {}
    // Optional ones are native programs that make others faster; they would bring an install script with them.
    if (optional === true || resolved === app) continue
    const to = join(stage, placeOf(path))
    if (placed.has(to)) throw new Error(`${path} and ${placed.get(to)} would both be at ${placeOf(path)}`)
    placed.set(to, path)
    if (link === true) unpack(tarballs.get(resolved), to)
    else cpSync(path, to, { recursive: true, filter: from => relative(path, from).split('/')[0] !== 'node_modules' && !/\.(map|[cm]?ts)$/.test(from) })
  }
  for (const page of ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'docs']) {
    cpSync(page, join(stage, page), { recursive: true, filter: from => !from.includes('.vitepress') })
  }
  cpSync('examples', join(stage, 'examples'), { recursive: true, filter: from => from === 'examples' || /\.(md|mjs|py)$/.test(from) })
  const manifest = readManifest(stage)
  writeManifest(stage, { ...manifest, bundleDependencies: Object.keys(manifest.dependencies ?? {}) })
  // npm would fetch what is missing of these.
  for (const place of placed.keys()) {
    const { optionalDependencies, ...rest } = readManifest(place)
    if (optionalDependencies !== undefined) writeManifest(place, rest)
  }
}

/** Where the packages are that it needs to run, relative to the root. */
function productionPaths () {
  const paths = run('npm', ['ls', '--all', '--parseable', '--omit=dev', '--workspace', app]).trim().split('\n').map(path => relative(root, path))
  return [...new Set(paths)].filter(path => path !== '' && path !== app)
}

/**
 * Where a package is below the staged one: what only one package of the workspace sees is below that one.
 *
 * @param {string} path relative to the root
 */
function placeOf (path) {
  const dir = Object.keys(locked).find(name => locked[`node_modules/${readName(name)}`]?.resolved === name && path.startsWith(`${name}/`))
  if (dir === undefined) return path
  return dir === app ? path.slice(app.length + 1) : join('node_modules', readName(dir), path.slice(dir.length + 1))
}

/** @param {string} dir of a package of the workspace */
function readName (dir) {
  return /^(apps|packages)\/[^/]+$|^samples$/.test(dir) ? readManifest(dir).name : ''
}

/**
 * @param {string | undefined} tarball
 * @param {string} to
 */
function unpack (tarball = '', to) {
  mkdirSync(to, { recursive: true })
  run('tar', ['-xzf', tarball, '-C', to, '--strip-components=1'])
}

/**
 * @param {string} destination
 * @param {string[]} what
 * @returns {Array<{name: string, filename: string}>}
 */
function pack (destination, what) {
  return Object.values(JSON.parse(run('npm', ['pack', ...what, '--ignore-scripts', '--json', '--pack-destination', destination])))
}

/**
 * @param {string} dir
 * @returns {{name: string, private?: boolean, dependencies?: Record<string, string>, optionalDependencies?: object}}
 */
function readManifest (dir) {
  return JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
}

/**
 * @param {string} dir
 * @param {object} manifest
 */
function writeManifest (dir, manifest) {
  writeFileSync(join(dir, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {Record<string, string>} env more variables
 */
function run (program, args, env = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 28, env: { ...process.env, ...env } })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
  return stdout
}
