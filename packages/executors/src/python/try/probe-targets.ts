import { once } from 'node:events'
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { portOf } from '@toolyard/sandbox'

/** A Python root and a workspace with the files of a service in them, for a canary to reach for. */
export interface PythonTargets {
  root: string
  /** Not that of the worker: in a large one no second name of a file would be looked for. */
  workspace: string
  /** Files and directories that no box may show. */
  hidden: readonly string[]
  /** Puts new files in the place of the old ones, as an editor does. */
  replace (): void
  remove (): Promise<void>
}

/** The canary looks for it in all that it can read. */
const secret = 'canary-secret'

/** Lays them out: a module, files of a service by each kind of name, and the port of somebody who listens. */
export async function layPythonTargets (module: string): Promise<PythonTargets> {
  const base = mkdtempSync(join(tmpdir(), 'toolyard-probe-'))
  const [root, workspace] = [join(base, 'root'), join(base, 'workspace')]
  for (const place of [root, workspace]) mkdirSync(place)
  const server = createServer(socket => { socket.destroy() })
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  copyFileSync(module, join(root, 'canary.py'))
  writeFileSync(join(root, 'port'), String(portOf(server)))
  const file = join(root, '.env')
  const directory = join(root, 'data')
  const nested = join(directory, 'audit')
  const link = join(root, 'settings')
  for (const place of [nested, join(root, 'package')]) mkdirSync(place, { recursive: true })
  const inWorkspace = join(workspace, '.env')
  for (const place of [file, join(directory, 'queue'), join(nested, 'day'), join(root, 'package/settings'), inWorkspace]) writeFileSync(place, secret, { mode: 0o600 })
  symlinkSync('package/settings', link)
  linkSync(file, join(root, 'package/second'))
  linkSync(inWorkspace, join(workspace, 'second'))
  return {
    root,
    workspace,
    hidden: [file, directory, nested, link, inWorkspace],
    replace () {
      for (const path of [file, inWorkspace]) {
        writeFileSync(`${path}.draft`, secret, { mode: 0o600 })
        renameSync(`${path}.draft`, path)
      }
      for (const second of [join(root, 'package/second'), join(workspace, 'second')]) rmSync(second)
    },
    async remove () {
      await new Promise(resolve => server.close(resolve))
      rmSync(base, { recursive: true, force: true })
    }
  }
}
