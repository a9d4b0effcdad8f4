import { asError, errorCode, isRecord, readJson } from '@toolyard/contract/terms'
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { jsonOption, textOption, type Command } from '../terminal/command.ts'
import { misuse } from '../terminal/exit-status.ts'
import { complain, print } from '../terminal/terminal.ts'

/** Days of the audit that are read. */
const mostDays = 7
/** A name without a port stands for these. */
const webPorts = new Set([80, 443])

interface Seen { allowed: number, denied: number }

const suggest: Command = {
  name: 'suggest',
  summary: 'Print the list of hosts that the last calls of a tool would have needed',
  help: `Reads the audit of the workers of this machine (AUDIT_DIR), its last ${mostDays} days, and prints the hosts that the tool's calls
connected to, or were denied, as a list for "network" of its entry. What is printed is no advice: look at each host. A tool without a
list isn't in it; give it "network": [] and call it first.`,
  arguments: ['<tool>'],
  options: [['--audit <dir>', 'the directory of the audit (default: AUDIT_DIR)'], jsonOption],
  run: async ({ args: [tool = ''], options }) => {
    const { loadEnvFile, readSettings } = await import('@toolyard/runtime')
    loadEnvFile()
    const dir = textOption(options, 'audit') ?? readSettings(process.env).AUDIT_DIR
    const seen = await connectionsOf(tool, dir)
    const network = [...seen.keys()].sort()
    const denied = [...seen].filter(([, { denied }]) => denied > 0).map(([host]) => host)
    if (options['json'] === true) print(JSON.stringify({ ok: true, tool, network, denied }, null, 2))
    else print(`"network": ${JSON.stringify(network)}`)
    if (seen.size === 0) complain(`${dir} has no connection of a tool '${tool}' in its last ${mostDays} days`)
    else if (denied.length > 0) complain(`denied until now: ${denied.join(', ')}`)
  }
}

/** `toolyard egress`: what tools connect to. */
export const egress: Command = {
  name: 'egress',
  summary: 'Look at what tools connect to',
  help: 'Tools with "network": [HOSTS] reach these hosts alone: docs/egress.md.',
  commands: [suggest]
}

async function connectionsOf (tool: string, dir: string): Promise<Map<string, Seen>> {
  const names = await readdir(dir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return []
    throw misuse(`the audit can't be read: ${asError(error).message}`)
  })
  const seen = new Map<string, Seen>()
  for (const name of names.filter(each => /^\d{8}\.log$/.test(each)).sort().slice(-mostDays)) {
    for await (const line of createInterface({ input: createReadStream(join(dir, name)), crlfDelay: Infinity })) {
      const target = line.includes('"egress"') ? targetOf(line, tool) : undefined
      if (target === undefined) continue
      const { host, isAllowed } = target
      const known = seen.get(host) ?? { allowed: 0, denied: 0 }
      seen.set(host, isAllowed ? { ...known, allowed: known.allowed + 1 } : { ...known, denied: known.denied + 1 })
    }
  }
  return seen
}

/** A line may be half written. */
function targetOf (line: string, tool: string): { host: string, isAllowed: boolean } | undefined {
  let entry: unknown
  try {
    entry = readJson(line)
  } catch {
    return undefined
  }
  if (!isRecord(entry) || entry['tool'] !== tool || !isRecord(entry['egress'])) return undefined
  const { host, port, decision } = entry['egress']
  if (typeof host !== 'string' || typeof port !== 'number') return undefined
  const shown = host.includes(':') ? `[${host}]` : host
  return { host: webPorts.has(port) ? shown : `${shown}:${port}`, isAllowed: decision === 'allowed' }
}
