import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export interface Entries {
  api: string
  worker: string
}

/** Where the packages keep their programs; a bundle has a module of its own in this one's place (`rolldown.config.js`). */
export function findEntries (): Entries {
  const { resolve } = createRequire(import.meta.url)
  const entry = (name: string): string => join(dirname(resolve(name)), 'server.js')
  return { api: entry('@toolyard/api'), worker: entry('@toolyard/worker') }
}
