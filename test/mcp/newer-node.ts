import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const version = '22.23.3'

/** A Node.js of 22 or later: this one, or the npm package that `npm run test:node` uses, too; undefined where neither is to be had. */
export function newerNode (): string | undefined {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath
  const name = `node-linux-${process.arch}`
  const dir = join('node_modules/.cache', `node-${version}`)
  const program = join(dir, 'node_modules', name, 'bin/node')
  if (!existsSync(program)) {
    spawnSync(
      'npm',
      ['install', '--prefix', dir, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`],
      { stdio: 'ignore' }
    )
  }
  return existsSync(program) ? program : undefined
}
