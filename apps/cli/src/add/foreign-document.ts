import { asError, freeName, isRecord, orElse } from '@toolyard/contract/terms'
import { importOpenapi, isDeeperThan, manifestTextOf, OpenapiFault, readYaml, type OpenapiImport } from '@toolyard/manifests'
import { parse as parseToml } from 'smol-toml'
import { CommandError } from '../terminal/exit-status.ts'

/** Where programs have their servers; `mcp` holds them itself, or as its `servers`. */
const holders = ['mcpServers', 'servers', 'context_servers', 'mcp_servers', 'amp.mcpServers', 'extensions', 'mcp'] as const
/** One of these makes a server of an object. */
const serverFields = ['command', 'cmd', 'url', 'httpUrl', 'serverUrl', 'uri']
/** What separates letters that the name of a server may not have. */
const unfit = /[^A-Za-z0-9_.-]+/g
const mostNameChars = 64
/** A table, whose brackets may be missing at its end, and a value. */
const toml = /^[ \t]*\[\[?[\w."' \t-]+(?:\]{1,2}[ \t]*)?\r?\n(?:[ \t]*(?:#.*)?\r?\n)*[ \t]*[\w-]+[ \t]*=/m
/** Manifests and documents may nest so deep. */
const mostLevels = 100

interface MadeManifest {
  /** The text of `tools.json`. */
  manifest: string
  /** What whoever decides must know beside it. */
  remarks: string[]
}

/**
 * A manifest as it is, the servers of another program, or the operations of an OpenAPI document.
 *
 * @throws CommandError for anything else.
 */
export async function manifestOf (text: string): Promise<MadeManifest> {
  const { value, isJson } = await parsed(text)
  if (isDeeperThan(mostLevels, value)) throw new CommandError(`The file is nested deeper than ${mostLevels} levels`, { code: 'SOURCE' })
  refuseDescriptions(value)
  const servers = isRecord(value) && value['openapi'] === undefined ? serversOf(value) : undefined
  // Beside servers, a list of texts is what an agent of another program may call.
  const isManifest = isRecord(value) && Array.isArray(value['tools']) && (servers === undefined || value['tools'].some(isRecord))
  if (isManifest) return { manifest: isJson ? text : textOf(value), remarks: [] }
  if (servers !== undefined) return { manifest: textOf({ tools: servers }), remarks: [] }
  try {
    return madeOf(await importOpenapi(text, {}))
  } catch (error) {
    if (error instanceof CommandError) throw error
    const fault = toml.test(text) ? tomlFault(text) : undefined
    if (fault !== undefined) throw new CommandError(`The file seems to be TOML, and can't be read: ${fault}`, { code: 'SOURCE' })
    throw new CommandError(`The file is no tar archive, no manifest, no file with mcpServers, and no OpenAPI document: ${asError(error).message}`, { code: 'SOURCE' })
  }
}

function textOf (manifest: unknown): string {
  return `${JSON.stringify(manifest, null, 2)}\n`
}

function madeOf (found: OpenapiImport): MadeManifest {
  const { entries, leftOut, notes, settings, servers } = found
  const remarks = [
    ...leftOut.map(({ operation, because }) => `left out: ${operation} ${because}`),
    ...notes.map(({ tool, says }) => `less: ${tool}: ${says}`),
    ...[...settings].map(([name, says]) => `workers need the variable ${name}: ${says}`),
    ...[...servers].map(each => `server with the document's values for its variables: ${each}`)
  ]
  if (entries.length === 0) {
    const way = 'toolyard import openapi FILE --server URL --out FILE writes a manifest for another server, which can be added.'
    throw new CommandError(['No operation of the document can be a tool. Nothing was added.', ...remarks.slice(0, 20).map(line => `  ${line}`), way].join('\n'), { code: 'SOURCE' })
  }
  try {
    return { manifest: manifestTextOf(found), remarks }
  } catch (error) {
    throw error instanceof OpenapiFault ? new CommandError(`The document ${error.message}. Each can be added.`, { code: 'SOURCE' }) : error
  }
}

/** They look like manifests, and say how a server is installed. */
function refuseDescriptions (value: unknown): void {
  if (!isRecord(value)) return
  const what = isRecord(value['server']) && isRecord(value['server']['mcp_config'])
    ? 'the manifest of an MCP bundle'
    : Array.isArray(value['packages']) || Array.isArray(value['remotes']) ? 'an entry of the MCP registry' : undefined
  if (what === undefined && isServer(value) && !Array.isArray(value['tools']) && value['openapi'] === undefined) {
    throw new CommandError('The file is one MCP server without a name: write {"mcpServers": {"NAME": ...}} around it.', { code: 'SOURCE' })
  }
  if (what === undefined || value['openapi'] !== undefined) return
  throw new CommandError(`The file is ${what}: install its server, and add a file such as {"mcpServers": {"NAME": {"command": "PROGRAM", "args": []}}}, with "url" in place of "command" for one that is elsewhere.`, { code: 'SOURCE' })
}

/** Entries for the servers of another program; undefined where it has none. */
function serversOf (value: Record<string, unknown>): Array<{ name: string, mcp: unknown }> | undefined {
  const [held] = holders.map(name => value[name]).filter(each => typeof each === 'object' && each !== null)
  if (held === undefined) {
    const isMap = Object.keys(value).length > 0 && Object.values(value).every(isServer)
    return isMap ? serversOf({ servers: value }) : undefined
  }
  if (isRecord(held) && isRecord(held['servers'])) return serversOf({ servers: held['servers'] })
  const named: Array<[name: string, mcp: unknown]> = Array.isArray(held)
    ? held.filter(isRecord).map(({ name, ...mcp }) => [String(name), mcp])
    : Object.entries(held)
  const taken = new Set<string>()
  const isOff = offIn(value)
  return named.map(([written, mcp]) => ({
    name: freeName(written.replace(unfit, '_').slice(0, mostNameChars), taken),
    mcp: isRecord(mcp) && isOff(written) ? { ...mcp, disabled: true } : mcp
  }))
}

/** Gemini CLI and Claude Code name the servers that are switched off beside all of them. */
function offIn ({ mcp, disabledMcpServers, disabledMcpjsonServers }: Record<string, unknown>): (name: string) => boolean {
  const { excluded, allowed }: Record<string, unknown> = isRecord(mcp) ? mcp : {}
  const off = [excluded, disabledMcpServers, disabledMcpjsonServers].flatMap((names): unknown[] => Array.isArray(names) ? names : [])
  return name => off.includes(name) || (Array.isArray(allowed) && !allowed.includes(name))
}

function isServer (value: unknown): boolean {
  return isRecord(value) && serverFields.some(name => typeof value[name] === 'string' || Array.isArray(value[name]))
}

/** What is wrong with it, and where; undefined for TOML. */
function tomlFault (text: string): string | undefined {
  try {
    parseToml(text)
    return undefined
  } catch (error) {
    // The lines behind the first one show the place with a caret.
    return asError(error).message
  }
}

/** JSON, JSON with comments and commas at the ends of lists, TOML, or YAML. */
async function parsed (written: string): Promise<{ value: unknown, isJson: boolean }> {
  const text = written.replace(/^\ufeff/, '')
  const value = orElse(() => JSON.parse(text) as unknown, undefined)
  if (value !== undefined) return { value, isJson: true }
  const commented = orElse(() => JSON.parse(withoutComments(text)) as unknown, undefined)
  if (commented !== undefined) return { value: commented, isJson: false }
  const table = orElse(() => parseToml(text), undefined)
  if (table !== undefined) return { value: table, isJson: false }
  const reading = await readYaml(text)
  return { value: reading.ok ? reading.value : undefined, isJson: false }
}

/** In texts nothing is a comment. One without an end goes to the end of the file: in YAML, each `image/*` would be looked at so far. */
function withoutComments (text: string): string {
  const plain = text.replace(/("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (_, kept: string | undefined) => kept ?? ' ')
  return plain.replace(/("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])/g, (_, kept: string | undefined) => kept ?? '')
}
