import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { repoRoot } from '../repo/source-tree.ts'

/** The rules of `.dockerignore`, in order: the last that matches a path or a directory above it decides. */
const rules = readFileSync(join(repoRoot, '.dockerignore'), 'utf8').split('\n')
  .map(line => line.trim())
  .filter(line => line !== '' && !line.startsWith('#'))
  .map(line => ({ keeps: line.startsWith('!'), pattern: patternOf(line.replace(/^!/, '')) }))

/** Whether a path, from the root of the repository, is left out of what an image is built from. */
export function isIgnored (path: string): boolean {
  const parts = path.split('/')
  const places = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const rule = rules.findLast(({ pattern }) => places.some(place => pattern.test(place)))
  return rule !== undefined && !rule.keeps
}

/** Whether a path is there to be copied into an image. */
export function isInContext (path: string): boolean {
  return existsSync(join(repoRoot, path)) && !isIgnored(path)
}

/** Copies a path of the build context as `COPY` does; `alsoKeep` lets through what `.dockerignore` holds back. */
export function copyFromContext (path: string, target: string, alsoKeep: (path: string) => boolean): void {
  mkdirSync(dirname(target), { recursive: true })
  cpSync(join(repoRoot, path), target, {
    recursive: true,
    filter: source => {
      const place = relative(repoRoot, source)
      return !isIgnored(place) || alsoKeep(place)
    }
  })
}

/** `*` stands for any part of a name, a leading `**` for any directories. */
function patternOf (text: string): RegExp {
  const source = text.split('/').map(part => part === '**' ? '(?:.*/)?' : `${part.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*')}/`).join('')
  return new RegExp(`^${source.replace(/\/$/, '')}$`)
}
