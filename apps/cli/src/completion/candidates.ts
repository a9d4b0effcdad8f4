import type { Command } from '../terminal/command.ts'

/**
 * Completions of the last of the words: commands, options, or what a command knows of its argument. None means that the
 * shell completes files.
 *
 * @param words behind `toolyard`; the last one is being written, and may be empty
 */
export async function candidates (commands: readonly Command[], words: readonly string[]): Promise<string[]> {
  const last = words.at(-1) ?? ''
  const { below, command, given } = find(commands, words.slice(0, -1))
  return (await all(below, command, given, last)).filter(word => word.startsWith(last)).sort()
}

interface Place {
  /** The commands that may follow. */
  below: readonly Command[]
  command: Command | undefined
  /** How many words stand behind the command. */
  given: number
}

function find (commands: readonly Command[], words: readonly string[]): Place {
  let place: Place = { below: commands, command: undefined, given: 0 }
  for (const word of words) {
    const next = place.below.find(({ name }) => name === word)
    place = next === undefined ? { ...place, given: place.given + 1 } : { below: next.commands ?? [], command: next, given: 0 }
  }
  return place
}

async function all (below: readonly Command[], command: Command | undefined, given: number, last: string): Promise<readonly string[]> {
  if (last.startsWith('-')) return ['--help', ...command === undefined ? ['--version'] : (command.options ?? []).flatMap(([flags]) => /--[a-z-]+/.exec(flags) ?? [])]
  if (below.length > 0) return below.map(({ name }) => name)
  return given === 0 && command?.complete !== undefined ? await command.complete().catch(() => []) : []
}
