import type { Redis } from './connection.ts'
import { packCalls } from './pack-calls.ts'

/** What a script gets: one of its calls. */
export interface ScriptCall {
  keys: readonly string[]
  args: ReadonlyArray<string | number | Buffer>
}

/** The Lua of a batched script. */
export interface BatchedLua {
  /** What is done before the first call: the names that `each` and `after` share. */
  before?: string
  /** What is done for each call, with KEYS and ARGV of that call; `script(KEYS, ARGV)` runs the script. */
  each?: string
  /** What is done after the last call. */
  after?: string
}

/** While a script runs, Redis does nothing else. */
const mostCalls = 50

/** Errors that concern the server, not a call: nothing that a call wrote can have come before. */
const ofServer = ['READONLY', 'NOREPLICAS', 'MISCONF']

/** ARGV: the calls, each with the places of its keys in KEYS and its arguments, packed as MessagePack. */
const template = (script: string, { before = '', each = 'return script(KEYS, ARGV)', after = '' }: BatchedLua): string => `
local function script (KEYS, ARGV)
${script}
end
${before}
local function each (KEYS, ARGV)
${each}
end
local ofServer = {${ofServer.map(word => `${word} = true`).join(', ')}}
local replies = {}
for place, call in ipairs(cmsgpack.unpack(ARGV[1])) do
  local keys = {}
  for key, at in ipairs(call[1]) do keys[key] = KEYS[at] end
  local done, reply = pcall(each, keys, call[2])
  if not done then
    local text = type(reply) == 'table' and reply.err or tostring(reply)
    -- Redis 6.2 puts the line before it.
    text = string.match(text, '^@.-%-(%u+ .*)') or text
    reply = redis.error_reply(text)
    if ofServer[string.match(text, '^%u*')] then return reply end
  end
  replies[place] = reply
end
${after}
return replies
`

/**
 * A script that one command runs many times. Most of what a short command costs both sides isn't its work: it is
 * written, woken up for, read, parsed and answered. Each call stands by itself, as if it had been sent alone: one that
 * fails leaves the others theirs. A server that takes no writes at all is told by the whole command, as it would be by
 * each: connections find another server then, and send it again.
 */
export class BatchedScript {
  readonly #command: string
  readonly #lua: string

  /**
   * @param name what the command is called in this process
   * @param script takes KEYS and ARGV, and answers something that isn't nil
   */
  constructor (name: string, script: string, lua: BatchedLua = {}) {
    this.#command = `toolyard:${name}`
    this.#lua = template(script, lua)
  }

  /** The reply to each call, an Error where there is none; rejected when there was no answer at all. */
  async run (redis: Redis, calls: readonly ScriptCall[]): Promise<unknown[]> {
    if (calls.length <= mostCalls) return await this.#run(redis, calls)
    const parts = Array.from({ length: Math.ceil(calls.length / mostCalls) }, (_, part) => calls.slice(part * mostCalls, (part + 1) * mostCalls))
    // What one command has done holds, whatever becomes of the others.
    const answers = await Promise.allSettled(parts.map(part => this.#run(redis, part)))
    const failures = answers.filter(answer => answer.status === 'rejected')
    if (failures.length === answers.length) throw failures[0]?.reason
    return answers.flatMap((answer, part) => answer.status === 'fulfilled' ? answer.value : (parts[part] ?? []).map(() => answer.reason as unknown))
  }

  async #run (redis: Redis, calls: readonly ScriptCall[]): Promise<unknown[]> {
    const commands = redis as unknown as Record<string, ((...args: Array<string | number | Buffer>) => Promise<unknown[]>) | undefined>
    if (commands[this.#command] === undefined) redis.defineCommand(this.#command, { lua: this.#lua })
    const places = new Map<string, number>()
    const packed = packCalls(calls.map(({ keys, args }) => ({ keys: keys.map(key => placeOf(key, places)), args: args.map(arg => typeof arg === 'number' ? String(arg) : arg) })))
    return await commands[this.#command]?.(places.size, ...places.keys(), packed) ?? []
  }
}

function placeOf (key: string, places: Map<string, number>): number {
  const known = places.get(key)
  if (known !== undefined) return known
  places.set(key, places.size + 1)
  return places.size
}
