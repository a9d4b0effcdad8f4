import type { ChainableCommander } from 'ioredis'
import type { Redis } from '../connection.ts'
import { packCalls } from './pack-calls.ts'

export interface ScriptCall {
  keys: readonly string[]
  args: ReadonlyArray<string | number | Buffer>
}

/** The Lua of a script whose calls are made one after the other. */
export interface EachCall {
  /** Before the first call: the names that `each` and `after` share. */
  before?: string
  /** For each call, with KEYS and ARGV of that call; `script(KEYS, ARGV)` runs the script. */
  each?: string
  /** After the last call. */
  after?: string
}

export interface ScriptRun {
  script: BatchedScript
  /** Where a connection waits for replicas, at most 50. */
  calls: readonly ScriptCall[]
  /** For all calls: keys that stand before theirs, and arguments behind the calls. */
  shared?: ScriptCall
}

const noShare: ScriptCall = { keys: [], args: [] }

/** While a script runs, Redis does nothing else. */
const mostCalls = 50

/** Errors that concern the server, not a call: nothing that a call wrote can have come before. */
const ofServer = ['READONLY', 'NOREPLICAS', 'MISCONF']

/** ARGV: the calls, packed as MessagePack; what they share. The body is a function of the calls, and answers their replies. */
const template = (body: string): string => `
local ofServer = {${ofServer.map(word => `${word} = true`).join(', ')}}
-- The error that a call failed with, and whether it is the server's.
local function errorOf (reply)
  local text = type(reply) == 'table' and reply.err or tostring(reply)
  -- Redis 6.2 puts the line before it.
  text = string.match(text, '^@.-%-(%u+ .*)') or text
  return redis.error_reply(text), ofServer[string.match(text, '^%u*')]
end
${body}
`

/**
 * A script that takes KEYS and ARGV and answers something that isn't nil, made into one that runs it for each call. Each
 * call is independent, as if it had been sent alone: when one fails, the others keep their replies.
 *
 * ARGV: the calls, each with the places of its keys in KEYS and its arguments.
 */
export function eachCall (script: string, { before = '', each = 'return script(KEYS, ARGV)', after = '' }: EachCall = {}): string {
  return template(`
local function script (KEYS, ARGV)
${script}
end
${before}
local function each (KEYS, ARGV)
${each}
end
local replies = {}
for place, call in ipairs(cmsgpack.unpack(ARGV[1])) do
  local keys = {}
  for key, at in ipairs(call[1]) do keys[key] = KEYS[at] end
  local done, reply = pcall(each, keys, call[2])
  if not done then
    local isOfServer
    reply, isOfServer = errorOf(reply)
    if isOfServer then return reply end
  end
  replies[place] = reply
end
${after}
return replies
`)
}

/**
 * A script that does all calls together. Its body sees `calls`, the arguments of each call, and KEYS and ARGV; ARGV[1] is
 * not for it. It returns one reply for each call, false for nil. If it fails, each call fails.
 */
export function allCalls (body: string): string {
  return template(`
local calls = {}
for place, call in ipairs(cmsgpack.unpack(ARGV[1])) do calls[place] = call[2] end
local function all ()
${body}
end
local done, replies = pcall(all)
if done then return replies end
local failure, isOfServer = errorOf(replies)
if isOfServer then return failure end
replies = {}
for place = 1, #calls do replies[place] = failure end
return replies
`)
}

/**
 * A script that one command runs for many calls. Most of what a short command costs both sides isn't its work: it is
 * written, woken up for, read, parsed and answered. When a server takes no writes at all, the whole command fails,
 * as each call would by itself: connections find another server then, and send it again.
 */
export class BatchedScript {
  readonly #command: string
  readonly #lua: string

  /**
   * @param name what the command is called in this process
   * @param lua from `eachCall` or `allCalls`
   */
  constructor (name: string, lua: string) {
    this.#command = `toolyard:${name}`
    this.#lua = lua
  }

  /**
   * The reply to each call, an Error where there is none; rejected when there was no answer at all.
   *
   * @param shared what all calls share: keys that stand before theirs, and arguments behind the calls
   */
  async run (redis: Redis, calls: readonly ScriptCall[], shared = noShare): Promise<unknown[]> {
    if (calls.length <= mostCalls) return await this.#run(redis, calls, shared)
    const parts = Array.from(
      { length: Math.ceil(calls.length / mostCalls) }, (_, part) => calls.slice(part * mostCalls, (part + 1) * mostCalls)
    )
    // The results of one command count, even when another one fails.
    const answers = await Promise.allSettled(parts.map(part => this.#run(redis, part, shared)))
    const failures = answers.filter(answer => answer.status === 'rejected')
    if (failures.length === answers.length) throw failures[0]?.reason
    return answers.flatMap((answer, part) => answer.status === 'fulfilled' ? answer.value : (parts[part] ?? []).map(() => answer.reason as unknown))
  }

  async #run (redis: Redis, calls: readonly ScriptCall[], shared: ScriptCall): Promise<unknown[]> {
    this.define(redis)
    return await commandsOf(redis)[this.#command]?.(...this.#argsOf(calls, shared)) ?? []
  }

  /**
   * Adds one command to a pipeline; its reply is the reply to each call.
   *
   * @param pipeline of a connection that knew the script when the pipeline was made: see `define`.
   * @param calls at most 50
   */
  addTo (pipeline: ChainableCommander, calls: readonly ScriptCall[], shared = noShare): void {
    const command = commandsOf(pipeline)[this.#command]
    if (command === undefined) throw new Error(`The pipeline does not know ${this.#command}`)
    // A chain of commands is no promise of one.
    void command.apply(pipeline, this.#argsOf(calls, shared))
  }

  define (redis: Redis): void {
    if (commandsOf(redis)[this.#command] === undefined) redis.defineCommand(this.#command, { lua: this.#lua })
  }

  #argsOf (calls: readonly ScriptCall[], shared: ScriptCall): Array<string | number | Buffer> {
    const places = new Map(shared.keys.map((key, index) => [key, index + 1]))
    const packed = packCalls(calls.map(({ keys, args }) => ({ keys: keys.map(key => placeOf(key, places)), args: args.map(arg => typeof arg === 'number' ? String(arg) : arg) })))
    return [places.size, ...places.keys(), packed, ...shared.args]
  }
}

/** The commands that were defined, by name. */
function commandsOf (
  redis: Redis | ChainableCommander
): Record<string, ((...args: Array<string | number | Buffer>) => Promise<unknown[]>) | undefined> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `defineCommand` adds them, and no type says so.
  return redis as never
}

function placeOf (key: string, places: Map<string, number>): number {
  const known = places.get(key)
  if (known !== undefined) return known
  places.set(key, places.size + 1)
  return places.size
}
