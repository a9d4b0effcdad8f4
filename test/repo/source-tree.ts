import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file of a source tree, real or planted: its path from the root with slashes, and its text. */
export interface SourceFile {
  path: string
  text: string
}

/** The root of this repository. */
export const repoRoot = fileURLToPath(new URL('../../..', import.meta.url))

/** What is made or installed here, or belongs to one machine, and isn't part of the repository: by name, and by path. */
const skippedNames = new Set(['node_modules', 'dist', 'coverage'])
const skippedPaths = new Set(['.git', '.tap', '.toolyard', '.env', 'test/build', 'test/bundle', 'workspace'])

/** Reads the text files below `root` whose paths `keep` accepts, in the order of their paths. */
export async function readTree (root: string, keep: (path: string) => boolean): Promise<SourceFile[]> {
  const paths = (await listFiles(root, '')).filter(keep).sort()
  return await Promise.all(paths.map(async path => ({ path, text: await readFile(join(root, path), 'utf8') })))
}

/** Makes a tree out of paths and texts, to plant what a guard must find. */
export function plantTree (texts: Record<string, string>): SourceFile[] {
  return Object.entries(texts).map(([path, text]) => ({ path, text }))
}

/** Whether the path is that of a program's source, in any of the languages that Node reads. */
export function isScript (path: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(path)
}

async function listFiles (root: string, dir: string): Promise<string[]> {
  const entries = await readdir(join(root, dir), { withFileTypes: true })
  const lists = entries.map(async entry => {
    const path = dir === '' ? entry.name : `${dir}/${entry.name}`
    if (skippedNames.has(entry.name) || skippedPaths.has(path) || entry.name.endsWith('.log')) return []
    if (entry.isDirectory()) return await listFiles(root, path)
    return entry.isFile() ? [path] : []
  })
  return (await Promise.all(lists)).flat()
}
