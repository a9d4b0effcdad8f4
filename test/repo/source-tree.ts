import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file of a source tree, real or planted: its path from the root with slashes, and its text. */
export interface SourceFile {
  path: string
  text: string
}

export const repoRoot = fileURLToPath(new URL('../../..', import.meta.url))

/** Reads the text files of a checkout that git doesn't ignore and whose paths `keep` accepts, in the order of their paths. */
export async function readTree (root: string, keep: (path: string) => boolean): Promise<SourceFile[]> {
  const listing = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (listing.status !== 0) throw new Error(`git can't list the files of ${root}: ${listing.stderr || String(listing.error)}`)
  const paths = [...new Set(listing.stdout.split('\0'))].filter(path => path !== '' && existsSync(join(root, path)) && keep(path)).sort()
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
