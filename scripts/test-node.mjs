/**
 * `npm run test:node`: runs `npm test` on newer releases of Node.js than the oldest one. Their programs come as npm
 * packages, and are kept in `node_modules/.cache`. Arguments are those of `npm test`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installDependencies, root } from './checkout.mjs'

const versions = ['22.23.3', '24.21.0']

process.chdir(root)
// What installs them takes the programs below away.
installDependencies()
const failed = versions.filter(version => !testOn(version))
if (failed.length > 0) console.log(`failed on Node.js ${failed.join(' and ')}`)
process.exitCode = failed.length === 0 ? 0 : 1

/** @param {string} version */
function testOn (version) {
  const name = `node-linux-${process.arch}`
  const dir = join(root, 'node_modules/.cache', `node-${version}`)
  const bin = join(dir, 'node_modules', name, 'bin')
  if (!existsSync(join(bin, 'node'))) run('npm', ['install', '--prefix', dir, '--no-save', '--ignore-scripts', `${name}@${version}`])
  console.log(`Node.js ${version}`)
  return run(join(bin, 'node'), ['scripts/test.mjs', ...process.argv.slice(2)], { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` })
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function run (program, args, env = process.env) {
  return spawnSync(program, args, { stdio: 'inherit', env }).status === 0
}
