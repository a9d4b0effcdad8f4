import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../repo/source-tree.ts'

/**
 * Lays out the built code as a release with another protocol number.
 *
 * @param dir an empty directory
 * @returns the program of its worker
 */
export function layOutRelease (dir: string, protocol: number): { worker: string, api: string } {
  const own = join(dir, 'node_modules', '@toolyard')
  mkdirSync(own, { recursive: true })
  for (const name of readdirSync(join(repoRoot, 'node_modules'))) {
    if (name !== '@toolyard' && !name.startsWith('.')) symlinkSync(join(repoRoot, 'node_modules', name), join(dir, 'node_modules', name))
  }
  for (const name of readdirSync(join(repoRoot, 'node_modules', '@toolyard'))) {
    // The link's target, without the sources' own links.
    cpSync(join(repoRoot, 'node_modules', '@toolyard', name), join(own, name), { recursive: true, dereference: true, filter: path => !/\/(?:src|test)(?:\/|$)|\.tsbuildinfo$/.test(path.slice(repoRoot.length)) })
  }
  const file = join(own, 'contract/dist/terms/protocol.js')
  const text = readFileSync(file, 'utf8')
  const changed = text.replace(/protocol = \d+/, `protocol = ${protocol}`)
  if (changed === text) throw new Error('the protocol number was not found')
  writeFileSync(file, changed)
  return { worker: join(own, 'worker/dist/server.js'), api: join(own, 'api/dist/server.js') }
}
