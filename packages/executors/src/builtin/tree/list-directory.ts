import { lstat, readdir } from 'node:fs/promises'
import { integerArgument, textArgument } from '../arguments.ts'
import { BuiltinFailure, type BuiltinHandler } from '../handler.ts'
import { entryPath, openDirectory, type Directory } from '../workspace/directory.ts'
import { isOwnName } from '../workspace/own-names.ts'
import { atPlace, type Place } from '../workspace/place.ts'
import { entryKind } from './entry-kind.ts'

const maxResults = { min: 1, max: 1_000, default: 200 }

/**
 * `workspace.list`: what is in one directory, by name. Returns `{ok, path, entries: [{name, path, type, size,
 * modified_at}], entry_count, total_count, next_cursor?}`: sizes in bytes, times in ISO 8601, links not followed;
 * `next_cursor` goes on after the last entry when there are more.
 */
export const listDirectory: BuiltinHandler = async (args, { workspaceDir, signal }) => {
  const limit = integerArgument(args['max_results'], maxResults)
  const after = textArgument(args['cursor'])
  return await atPlace(workspaceDir, textArgument(args['path']) || '.', { notFound: 'path not found' }, async place => {
    return await inDirectory(place, async directory => {
      const hidden = args['include_hidden'] === true
      const names = (await readdir(entryPath(directory, '.'))).filter(name => !isOwnName(name) && (hidden || !name.startsWith('.'))).sort()
      const rest = names.filter(name => name > after)
      const page = rest.slice(0, limit)
      const entries: object[] = []
      for (const name of page) {
        signal.throwIfAborted()
        entries.push(...await describe(directory, name, place.relative))
      }
      return {
        ok: true,
        path: place.relative,
        entries,
        entry_count: entries.length,
        total_count: names.length,
        ...(rest.length > page.length ? { next_cursor: page.at(-1) } : {})
      }
    })
  })
}

/** Hands the directory that a place is to `use`, open. */
async function inDirectory<T> ({ directory, name, stats }: Place, use: (directory: Directory) => Promise<T>): Promise<T> {
  if (stats?.isDirectory() !== true) throw new BuiltinFailure('path is not a directory')
  const opened = openDirectory(directory, name)
  try {
    return await use(opened)
  } finally {
    opened.handle.close()
  }
}

/** Empty for an entry that is gone by now. */
async function describe (directory: Directory, name: string, parent: string): Promise<object[]> {
  const stats = await lstat(entryPath(directory, name)).catch(() => undefined)
  if (stats === undefined) return []
  return [{ name, path: parent === '.' ? name : `${parent}/${name}`, type: entryKind(stats), size: stats.size, modified_at: stats.mtime.toISOString() }]
}
