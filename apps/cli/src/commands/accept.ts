import type { McpTool } from '@toolyard/contract/terms'
import type { McpLock, McpServer } from '@toolyard/manifests'
import type { Changes } from '../accept/changes.ts'
import type { Offer } from '../accept/offers.ts'
import { jsonOption, type Command } from '../terminal/command.ts'
import { CommandError, exitStatus } from '../terminal/exit-status.ts'
import { agrees } from '../terminal/agreement.ts'
import { complain, print } from '../terminal/terminal.ts'

/** A server's offer beside what was accepted of it. */
interface Reviewed {
  server: McpServer
  tools: readonly McpTool[]
  changes: Changes
}

/** `toolyard accept`: publishes tools of MCP servers, once somebody has looked at them. */
export const accept: Command = {
  name: 'accept',
  summary: 'Show what MCP servers of manifests offer, and accept it',
  help: `Asks the MCP servers that manifests name (those of TOOL_MANIFESTS without arguments) for their tools, and shows what is new, changed
or gone since it was accepted: all that models would read. What is accepted goes into a file beside the manifest (toolyard.lock.json),
or into the lock of the project where the manifest was added: services publish these tools and no others, with these descriptions.
Servers run in the sandbox, as workers run them; settings are environment variables; .env in the working directory is read.

On a terminal it asks before it writes. Elsewhere it writes with --yes alone, and fails when there is something to accept.

Exit status: 0 when all is accepted, 1 when something is not, or a server can't be asked.`,
  arguments: ['[manifests...]'],
  options: [
    ['--yes', 'accept without a question'],
    jsonOption
  ],
  run: async ({ options, args }) => {
    const [{ loadRegistry, readLock }, { loadEnvFile, readSettings, sampleManifests, toolSourcesOf }] = await Promise.all([
      import('@toolyard/manifests'), import('@toolyard/runtime')
    ])
    const [{ askServers }, { changesOf, isChanged }] = await Promise.all([import('../accept/offers.ts'), import('../accept/changes.ts')])
    const env = loadEnvFile()
    const settings = readSettings(process.env)
    const sources = toolSourcesOf({ ...settings, TOOL_MANIFESTS: settings.TOOL_MANIFESTS ?? sampleManifests().split(',') }, process.env)
    const registry = await loadRegistry(args.length === 0 ? sources : { ...sources, manifests: args })
    const errors = registry.findings.filter(({ severity, rule }) => severity === 'error' && rule !== 'mcp/accepted')
    for (const { file, message } of errors) complain(`toolyard accept: ${file}: ${message}`)
    const servers = registry.servers()
    const asked = servers.filter(({ off }) => off !== true)
    if (asked.length === 0) throw new CommandError('no manifest names an MCP server that can be asked')

    const locks = new Map<string, McpLock>()
    for (const { source: { file } } of servers) locks.set(file, await readLock(file).catch(() => new Map()))
    const offers = await askServers(asked, { settings, env }, complain)
    const failed = offers.flatMap(offer => offer.kind === 'failed' ? [offer.problem] : [])
    const reviewed = await Promise.all(offers.flatMap(offer => offer.kind === 'failed' ? [] : [review(offer, locks)]))
    const open = reviewed.filter(({ server, changes }) => isChanged(changes) || locks.get(server.source.file)?.has(server.name) !== true)
    if (options['json'] !== true) await show(reviewed, failed)
    const accepted = open.length === 0 || options['yes'] === true || (options['json'] !== true && await agrees('Publish these tools as they are described here?'))
    if (accepted && open.length > 0) await write(open, locks, servers)
    if (options['json'] === true) print(JSON.stringify({ ok: accepted && failed.length === 0, accepted, servers: offers.map(offer => described(offer, reviewed)) }, null, 2))
    else if (!accepted) complain('toolyard accept: nothing was accepted; --yes accepts it')
    return accepted && failed.length === 0 && errors.length === 0 ? exitStatus.done : exitStatus.failed

    async function review ({ server, tools }: Extract<Offer, { kind: 'offered' }>, known: ReadonlyMap<string, McpLock>): Promise<Reviewed> {
      const { defaultFaults, nameFilter } = await import('@toolyard/manifests')
      const wanted = tools.filter(({ name }) => nameFilter(server.filter)(name))
      for (const { name, inputSchema } of wanted) {
        for (const { message } of defaultFaults(inputSchema)) complain(`toolyard accept: tool ${JSON.stringify(name)} of ${JSON.stringify(server.name)}: ${message}`)
      }
      return { server, tools: wanted, changes: changesOf(known.get(server.source.file)?.get(server.name) ?? [], wanted) }
    }
  }
}

async function show (reviewed: readonly Reviewed[], problems: readonly string[]): Promise<void> {
  const { changeLines, isChanged } = await import('../accept/changes.ts')
  for (const { server, tools, changes } of reviewed) {
    print(`${server.name} (${server.source.file}): ${tools.length} tool${tools.length === 1 ? '' : 's'}${isChanged(changes) ? '' : ', all as accepted'}`)
    for (const line of changeLines(changes)) print(line)
  }
  for (const problem of problems) complain(`toolyard accept: ${problem}`)
}

/** Servers that no manifest names any more go, and those that couldn't be asked stay as they were. */
async function write (open: readonly Reviewed[], locks: ReadonlyMap<string, McpLock>, servers: readonly McpServer[]): Promise<void> {
  const { changeLock } = await import('@toolyard/manifests')
  for (const file of locks.keys()) {
    const changed = open.filter(({ server }) => server.source.file === file)
    if (changed.length === 0) continue
    const named = servers.filter(server => server.source.file === file).map(({ name }) => name)
    const accepted = changed.map(({ server, tools }): [string, readonly McpTool[]] => [server.name, tools])
    await changeLock(file, now => new Map([...[...now].filter(([name]) => named.includes(name)), ...accepted]))
    complain(`toolyard accept: wrote ${changed[0]?.server.lock ?? file}`)
  }
}

function described (offer: Offer, reviewed: readonly Reviewed[]): object {
  const { name, source: { file } } = offer.server
  if (offer.kind === 'failed') return { name, file, problem: offer.problem }
  const changes = reviewed.find(({ server }) => server === offer.server)?.changes
  return { name, file, ...changes, gone: changes?.gone.map(tool => tool.name) }
}
