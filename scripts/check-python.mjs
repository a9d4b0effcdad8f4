/**
 * Checks the Python of the repository, as a part of `npm run lint`: ruff, which comes as an npm package, and mypy, where
 * it is installed (Debian's package `mypy`); the files in `typeConfigs` say what it checks.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { root } from './checkout.mjs'

const rules = {
  'target-version': 'py39',
  'line-length': 140,
  lint: { select: ['B', 'C4', 'E', 'F', 'I', 'PIE', 'PLE', 'PLW', 'RET', 'RUF', 'SIM', 'UP', 'W'] }
}
/** The client is checked by itself: what tools build on has its name too. */
const typeConfigs = ['mypy.ini', 'clients/python/pyproject.toml']
/** Rules that a folder goes without. A lambda of the hostile tools is called at once, within its turn of the loop (B023). */
const lenient = { 'samples/hostile/': new Set(['B023', 'E501', 'PLW0603']) }

process.chdir(root)
const faults = [...await findRuffFaults(), ...typeConfigs.flatMap(findTypeFaults)]
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1

/** @returns {Promise<string[]>} */
async function findRuffFaults () {
  const { PositionEncoding, Workspace } = await import('@astral-sh/ruff-wasm-nodejs')
  const workspace = new Workspace(rules, PositionEncoding.Utf16)
  return filesOf('*.py').flatMap(path => {
    /** @type {import('@astral-sh/ruff-wasm-nodejs').Diagnostic[]} */
    const found = workspace.check(readFileSync(path, 'utf8'))
    return found.filter(({ code }) => !isLenient(path, code))
      .map(({ code, message, start_location: { row, column } }) => `${path}:${row}:${column} ${code} ${message}`)
  })
}

/**
 * @param {string} path
 * @param {string | null} code
 */
function isLenient (path, code) {
  return Object.entries(lenient).some(([folder, codes]) => path.startsWith(folder) && code !== null && codes.has(code))
}

/**
 * @param {string} config
 * @returns {string[]}
 */
function findTypeFaults (config) {
  const { status, stdout, stderr, error } = spawnSync('mypy', ['--config-file', config], { encoding: 'utf8' })
  if (status === 0) return []
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') {
    console.log('The types of the Python were not checked: there is no mypy. Debian has it: apt-get install mypy')
    return []
  }
  return [`${stdout ?? ''}${stderr ?? ''}mypy failed.`]
}

/** @param {string} pattern */
function filesOf (pattern) {
  return spawnSync('git', ['ls-files', '-z', pattern], { encoding: 'utf8' }).stdout.split('\0').filter(Boolean)
}
