/**
 * `node scripts/wheel.mjs [DIRECTORY]`: builds the wheel of the Python client with what Debian has (`python3-pip`,
 * `python3-setuptools` and `python3-wheel`), in a directory (`packed/` when none is named), and prints its path. Exits with
 * 2 where no Python has these, and says so. Nothing is written elsewhere in the checkout.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { root } from './checkout.mjs'

const directory = resolve(process.argv[2] ?? join(root, 'packed'))
const python = ['/usr/bin/python3', 'python3'].find(program => spawnSync(program, ['-c', 'import setuptools, wheel, pip']).status === 0)
if (python === undefined) {
  console.error('The wheel was not built: no Python here has pip, setuptools and wheel. Debian has them: apt-get install python3-pip python3-setuptools python3-wheel')
  process.exit(2)
}
const stage = mkdtempSync(join(tmpdir(), 'toolyard-wheel-'))
try {
  // setuptools leaves files beside what it builds.
  cpSync(join(root, 'clients/python'), join(stage, 'source'), { recursive: true })
  mkdirSync(directory, { recursive: true })
  const { status, stdout, stderr } = spawnSync(python, [
    '-m', 'pip', 'wheel', '--no-build-isolation', '--no-deps', '--no-index', '--wheel-dir', join(stage, 'built'), join(stage, 'source')
  ], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`pip wheel failed:\n${stdout}${stderr}`)
  for (const name of readdirSync(join(stage, 'built'))) {
    cpSync(join(stage, 'built', name), join(directory, name))
    console.log(join(directory, name))
  }
} finally {
  rmSync(stage, { recursive: true, force: true })
}
