import { atPlace, entryAt, entryKind, inDirectory, modifiedAt, pageOfNames, type Directory, type Place } from '@toolyard/workspace'
import { integerArgument, textArgument } from '../kit/arguments.ts'
import type { BuiltinHandler } from '../kit/handler.ts'
import { pieceTurn } from '../kit/piece-turn.ts'

const maxResults = { min: 1, max: 1_000, default: 200 }

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
      const { names, rest, total } = await pageOfNames(place, directory, {
        after,
        limit,
        counts: name => hidden || !name.startsWith('.'),
        inTurn: async read => {
          await pieceTurn(context)
          return await read()
        }
      })
      const entries: object[] = []
      for (const name of names) {
        context.signal.throwIfAborted()
        entries.push(...await describe(directory, name, place))
      }
      return {
        ok: true,
        path: place.relative,
        entries,
        entry_count: entries.length,
        total_count: total,
        ...(rest > names.length ? { next_cursor: names.at(-1) } : {})
      }
    })
  })
}

/** Empty for an entry that is gone by now, and for another name of a file of the service. */
async function describe (directory: Directory, name: string, place: Place): Promise<object[]> {
  const entry = await entryAt(place, directory, name)
  if (entry === undefined) return []
  const { stats } = entry
  const path = place.relative === '.' ? name : `${place.relative}/${name}`
  return [{ name, path, type: entryKind(stats), size: stats.size, modified_at: modifiedAt(stats).toISOString() }]
}
