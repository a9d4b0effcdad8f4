import { once } from 'node:events'
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A Python root with the files of a service in it, for a canary to reach for. */
export interface PythonBait {
  root: string
  /** Files and directories that no box may show. */
  hidden: readonly string[]
  /** Puts new files in the place of the old ones, as an editor does. */
  replace (): void
  remove (): Promise<void>
}

/** The canary looks for it in all that it can read. */
const secret = 'canary-secret'

/** Lays out the root: a module, files of a service by each kind of name, and the port of somebody who listens. */
export async function layPythonBait (module: string): Promise<PythonBait> {
  const root = mkdtempSync(join(tmpdir(), 'toolyard-bait-'))
  const server = createServer(socket => { socket.destroy() })
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  copyFileSync(module, join(root, 'canary.py'))
  writeFileSync(join(root, 'port'), String((server.address() as AddressInfo).port))
  const file = join(root, '.env')
  const directory = join(root, 'data')
  const nested = join(directory, 'audit')
  const link = join(root, 'settings')
  for (const place of [nested, join(root, 'package')]) mkdirSync(place, { recursive: true })
  for (const place of [file, join(directory, 'queue'), join(nested, 'day'), join(root, 'package/settings')]) writeFileSync(place, secret, { mode: 0o600 })
  symlinkSync('package/settings', link)
  linkSync(file, join(root, 'package/second'))
  return {
    root,
    hidden: [file, directory, nested, link],
    replace () {
      writeFileSync(`${file}.draft`, secret, { mode: 0o600 })
      renameSync(`${file}.draft`, file)
      rmSync(join(root, 'package/second'))
    },
    async remove () {
      await new Promise(resolve => server.close(resolve))
      rmSync(root, { recursive: true, force: true })
    }
  }
}
