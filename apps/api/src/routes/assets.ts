import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'

export interface Asset {
  type: string
  body: Buffer
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2'
}

/**
 * The files below a directory, by their paths with `/`; a path that isn't one of them leads nowhere. Each is in memory once: everybody
 * may have them sent, and not read them.
 */
export class Assets {
  readonly #dir: string
  readonly #bodies = new Map<string, Promise<Buffer>>()
  #paths: Promise<ReadonlySet<string>> | undefined

  constructor (dir: string) {
    this.#dir = dir
  }

  /** Reads a file; undefined when there is none of that path, or of a kind that no page loads. */
  async read (path: string): Promise<Asset | undefined> {
    this.#paths ??= listFiles(this.#dir)
    const type = types[extname(path)]
    if (type === undefined || !(await this.#paths).has(path)) return undefined
    const body = this.#bodies.get(path) ?? readFile(join(this.#dir, path))
    this.#bodies.set(path, body)
    return { type, body: await body.catch((error: unknown) => { this.#bodies.delete(path); throw error }) }
  }
}

async function listFiles (dir: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  return new Set(entries.filter(entry => entry.isFile()).map(entry => relative(dir, join(entry.parentPath, entry.name)).replaceAll('\\', '/')))
}
