import { lstat, opendir } from 'node:fs/promises'
import { atPlace, entryPath, inDirectory, isOwnName, isServiceName, type Directory, type Place } from '@toolyard/workspace'
import { integerArgument, textArgument } from '../kit/arguments.ts'
import type { BuiltinHandler } from '../kit/handler.ts'
import { entryKind } from './entry-kind.ts'

const maxResults = { min: 1, max: 1_000, default: 200 }
/** Entries that are read at once. */
const listed = 1_024

/**
 * `workspace.list`: what is in one directory, by name. Returns `{ok, path, entries: [{name, path, type, size,
 * modified_at}], entry_count, total_count, next_cursor?}`: sizes in bytes, times in ISO 8601, links not followed;
 * `next_cursor` goes on after the last entry when there are more.
 */
export const listDirectory: BuiltinHandler = async (args, context) => {
  const limit = integerArgument(args['max_results'], maxResults)
  const after = textArgument(args['cursor'])
  return await atPlace(context, textArgument(args['path']) || '.', { notFound: 'path not found' }, async place => {
    return await inDirectory(place, 'path', async directory => {
      const hidden = args['include_hidden'] === true
      const taken = place.root.service.namesIn(directory.handle.fd)
      const { page, rest, total } = await firstNames(directory, { after, limit, counts: name => !isOwnName(name) && !isServiceName(name, taken) && (hidden || !name.startsWith('.')) })
      const entries: object[] = []
      for (const name of page) {
        context.signal.throwIfAborted()
        entries.push(...await describe(directory, name, place))
      }
      return {
        ok: true,
        path: place.relative,
        entries,
        entry_count: entries.length,
        total_count: total,
        ...(rest > page.length ? { next_cursor: page.at(-1) } : {})
      }
    })
  })
}

/** The names that follow another one in the alphabet, at most `limit`, how many do, and how many names there are. */
async function firstNames (
  directory: Directory, { after, limit, counts }: { after: string, limit: number, counts: (name: string) => boolean }
): Promise<{ page: string[], rest: number, total: number }> {
  let page: string[] = []
  const found = { rest: 0, total: 0 }
  // A part at a time: a directory may have a million entries.
  for await (const { name } of await opendir(entryPath(directory, '.'), { bufferSize: listed })) {
    if (!counts(name)) continue
    found.total += 1
    if (name <= after) continue
    found.rest += 1
    page.push(name)
    if (page.length > limit + listed) page = page.sort().slice(0, limit)
  }
  return { page: page.sort().slice(0, limit), ...found }
}

/** Empty for an entry that is gone by now, and for another name of a file of the service. */
async function describe (directory: Directory, name: string, { root, relative: parent }: Place): Promise<object[]> {
  const stats = await lstat(entryPath(directory, name)).catch(() => undefined)
  if (stats === undefined || root.service.has(entryPath(directory, name), stats)) return []
  return [{ name, path: parent === '.' ? name : `${parent}/${name}`, type: entryKind(stats), size: stats.size, modified_at: stats.mtime.toISOString() }]
}
