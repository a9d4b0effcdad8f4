import type { Permission } from '@toolyard/contract'
import { asError } from '@toolyard/contract/terms'
import type { Tool } from '@toolyard/manifests'
import type { Audit } from './audit/audit.ts'
import { auditOfCall } from './audit/audited-call.ts'
import { createBuiltins } from './builtin/builtins.ts'
import { runBuiltin } from './builtin/run-builtin.ts'
import { createNetworks } from './egress/networks.ts'
import { withEgress } from './egress/with-egress.ts'
import { toolEnvironment } from './run/environment.ts'
import { withFileArguments } from './run/file-arguments.ts'
import { runCommand, type CommandHost } from './command/run-command.ts'
import { createKeptReady } from './kept-ready.ts'
import { failure, type Outcome, type RunContext } from './run/outcome.ts'
import type { ExecutorOptions, Executors } from './executor-options.ts'
import { closeStrayDescriptors, findOnPath, createLauncher, createPins, openLimits, type BoxNetwork } from '@toolyard/sandbox'
import type { McpServers } from './mcp/servers.ts'
import { scopeOf, serverTool } from './mcp/server-tool.ts'
import { storedNamesOf } from './mcp/setting-text.ts'
import { createHosts } from './python/host/hosts.ts'
import { createOutputCheck } from './python/call/outputs.ts'
import { withReturnedFiles } from './result/returned-files.ts'
import { createDeclaredCheck, type CompileSchema } from './result/declared-output.ts'
import { pinFailure } from './python/call/pin-failure.ts'
import { runPython } from './python/call/run-python.ts'
import { tryModule } from './python/try/try-module.ts'
import { withHint } from './result/hint.ts'
import { openNamed, withSecrets } from './with-secrets.ts'
import { interruptionError } from './run/interruption.ts'
import { createThreads } from './run/create-threads.ts'
import { readSkill } from './skill/read-skill.ts'
import { tryStart } from './try-start.ts'
import { runSkill } from './skill/run-skill.ts'
import { createSkillCommands } from './skill/three-files/skill-commands.ts'
import { ofSkill, runSkillProgram } from './skill-program/run-skill-program.ts'

/** A message of an MCP server may be so many times as long as its output: servers send an output twice, once as a text in JSON. */
const messageShare = 4

/**
 * Makes the executors of one worker. Between runs they keep open: the start helper, the hosts of Python tools, commands
 * that wait ready, connections to MCP servers, and for a while up to two threads. All of it ends with `close`, or with the
 * worker. Descriptors that the worker's process inherited, beside the first three, are closed: tools would get them.
 */
export function createExecutors (options: ExecutorOptions): Executors {
  closeStrayDescriptors()
  const running = new Set<Promise<Outcome>>()
  const threads = createThreads()
  const prlimit = findOnPath('prlimit', options.env['PATH'])
  const place = options.sandbox?.place
  const host = {
    ...options,
    threads,
    launcher: createLauncher(place ?? { prefix: [] }, options.sandbox?.groups?.members ?? []),
    pins: createPins(),
    onSurvivors: (pids: number[]) => { options.logger?.warn({ pids }, 'processes of a call outlived SIGKILL') }
  }
  const keptReady = createKeptReady(host)
  const hosts = createHosts({
    ...host,
    env: toolEnvironment([], options.env).variables,
    groupMembers: options.sandbox?.groups?.members ?? [],
    onHostEnd: (root, message) => { options.logger?.warn({ root, message }, 'a Python host ended') }
  })
  const networks = options.sandbox?.networks === undefined
    ? undefined
    : createNetworks({
      means: options.sandbox.networks,
      policy: options.http ?? { privateHosts: [] },
      members: options.sandbox.groups?.members ?? [],
      onConnection: options.onConnection,
      onClosed: key => { hosts.endNetwork(key) }
    })
  const compileSchema: CompileSchema = options.compileSchema ?? (() => async () => await Promise.resolve({ ok: true }))
  const python = { ...host, hosts, checkOutput: createOutputCheck(compileSchema) }
  const checkResult = createDeclaredCheck(compileSchema)
  let mcpServers: McpServers | undefined
  // `loadCodeOf` has loaded it where there are MCP servers: a worker without them is smaller.
  const loadServers = async (): Promise<McpServers> => {
    const { createServers } = await import('./mcp/servers.ts')
    mcpServers ??= createServers({
      ...host, policy: options.http ?? { privateHosts: [] }, maxMessageBytes: messageShare * options.maxOutputBytes
    })
    return mcpServers
  }
  const heldBy = (tool: Tool): readonly Permission[] | undefined => options.sandbox?.permissionsOf(tool) ?? tool.permissions
  const skillCommands = createSkillCommands(options, heldBy)
  const builtins = createBuiltins(options.builtins ?? {}, threads)

  async function runTool (named: Tool, args: Record<string, unknown>, context: RunContext): Promise<Outcome> {
    const tool = skillCommands.chosen(named, args)
    if (context.signal.aborted) return { ok: false, error: interruptionError({ kind: 'abort', reason: context.signal.reason }) }
    const audit = auditOfCall(options.audit, args, {
      key: context.keyName ?? '',
      ...(context.tenant === undefined ? {} : { tenant: context.tenant }),
      permissions: heldBy(tool) ?? [],
      sandbox: options.sandbox?.levelOf(tool) ?? 'none'
    })
    return await withEgress(tool, context, { networks, audit }, async network => await runIn(tool, args, context, { audit, network }))
  }

  async function runIn (
    tool: Tool, args: Record<string, unknown>, context: RunContext, { audit, network }: { audit: Audit, network: BoxNetwork | undefined }
  ): Promise<Outcome> {
    const box = options.sandbox?.boxOf(tool, context.session, network)
    const filesDir = context.session?.dir ?? options.workspaceDir
    const maxOutputBytes = Math.min(options.maxOutputBytes, tool.limits?.outputBytes ?? options.maxOutputBytes)
    const group = tool.limits === undefined || tool.run.kind === 'mcp' || (box === undefined && tool.run.kind !== 'python')
      ? undefined
      : options.sandbox?.groups?.groupOf(tool.limits, tool.run.kind === 'python' ? 'nest' : 'box')
    const kept = keptReady.begin(tool, { box, context })
    const toolHost = {
      filesDir,
      // Not first: in Node 20, each property after a spread that begins an object takes more than a microsecond.
      ...host,
      // In a box, a session's directory is in the place of the workspace.
      workspaceDir: box === undefined ? filesDir : options.workspaceDir,
      audit,
      maxOutputBytes,
      box,
      limit: box === undefined ? limitOf(tool) : undefined,
      group,
      ready: kept.ready,
      trace: context.trace,
      variables: context.variables,
      used: context.used
    }
    try {
      const files = await withFileArguments(tool.parameters, args, context, options)
      if ('error' in files) return { ok: false, error: files.error }
      const ran = await runKind(tool, files.args, context, { toolHost, audit, maxOutputBytes, network })
      const returned = await withReturnedFiles(ran, context, { knownAs: options.workspaceDir, mayRead: maySeeFiles(tool) })
      return withHint(returned, tool, options.sandbox?.levelOf(tool) === 'none' ? undefined : options.sandbox?.permissionsOf(tool))
    } finally {
      for (const each of [...group === undefined ? [] : [group], ...kept.groups]) await each.remove()
      kept.ended()
    }
  }

  async function runKind (
    tool: Tool, args: Record<string, unknown>, context: RunContext,
    { toolHost, audit, maxOutputBytes, network }:
    { toolHost: CommandHost & { filesDir: string }, audit: Audit, maxOutputBytes: number, network: BoxNetwork | undefined }
  ): Promise<Outcome> {
    switch (tool.run.kind) {
      case 'command':
        return await runCommand(tool.name, tool.run, args, context, toolHost)
      case 'python': {
        const hostBox = options.sandbox?.hostBoxOf(tool, network)
        return await pinFailure(tool.name, tool.run, context, toolHost) ?? await runPython(tool, tool.run, args, context, {
          ...python,
          workspaceDir: hostBox === undefined ? toolHost.filesDir : options.workspaceDir,
          session: context.session,
          audit,
          maxOutputBytes,
          box: hostBox,
          variables: context.variables === undefined ? network?.variables : { ...network?.variables, ...context.variables },
          limit: toolHost.limit,
          group: toolHost.group
        })
      }
      case 'skill':
        return await runSkill(tool.name, tool.run, args, context, toolHost)
      case 'skill-command':
        return await skillCommands.run(tool, args, context, toolHost)
      case 'skill-run':
        return await runSkillProgram(tool.name, tool.run, args, context, toolHost)
      case 'http': {
        // `loadCodeOf` has loaded it: a worker without HTTP tools is smaller.
        const { runHttp } = await import('./http/run-http.ts')
        const policy = options.http ?? { privateHosts: [] }
        return await runHttp(tool.name, tool.run, args, context, { env: options.env, policy, audit, maxOutputBytes, threads })
      }
      case 'mcp': {
        const { runMcp } = await import('./mcp/run-mcp.ts')
        const servers = await loadServers()
        const place = { ...toolHost, ...scopeOf(tool.run.server, context), stored: context.secrets }
        return await runMcp(tool.name, tool.run, args, context, { ...toolHost, servers, place, audit, checkResult, maxOutputBytes })
      }
      case 'read-skill':
        return await readSkill(tool.run, args, options.sandbox !== undefined && options.sandbox.report.level !== 'none')
      case 'builtin':
      case 'service':
        return await runBuiltinTool(tool, args, context, toolHost)
    }
  }

  /** Tools of the service hand on what others returned. */
  function maySeeFiles (tool: Tool): boolean {
    if (tool.run.kind === 'builtin' || tool.run.kind === 'service') return true
    const permissions = heldBy(tool)
    return permissions === undefined || permissions.includes('read_repo') || permissions.includes('write_files')
  }

  /** In a box the limits are part of it; in the open they cost a program more, so only a tool's own are set this way. */
  function limitOf ({ limits }: Tool): string[] | undefined {
    return prlimit === undefined || limits === undefined ? undefined : openLimits(prlimit, limits)
  }

  async function runBuiltinTool (tool: Tool, args: Record<string, unknown>, context: RunContext, processes: CommandHost): Promise<Outcome> {
    const handler = builtins.get(tool.jobType)
    if (handler === undefined) return failure('TOOL_UNAVAILABLE', `no built-in tool has the job type ${tool.jobType}`)
    return await runBuiltin(handler, { tool, args }, context, processes)
  }

  return {
    async run (given, args, context) {
      const tool = ofSkill(given, args)
      const run = withSecrets(tool, context, { source: options.secrets, threads }, async known => await runTool(tool, args, known))
      running.add(run)
      return await run.finally(() => { running.delete(run) })
    },
    tryModule: async tools => await tryModule(tools, {
      hosts,
      workspaceDir: options.workspaceDir,
      boxOf: tool => options.sandbox?.tryBoxOf(tool),
      hasNetwork: tool => options.sandbox?.permissionsOf(tool).includes('network') === true
    }),
    async toolsOf (server) {
      const box = options.sandbox?.boxOf(serverTool(server))
      const stored = await openNamed(storedNamesOf(server), { keyName: undefined, tenant: undefined }, options.secrets)
      if ('ok' in stored) return stored.error
      const lease = await (await loadServers()).use(server, { box, stored })
      if ('error' in lease) return lease.error
      try {
        return await lease.connection.tools()
      } catch (error) {
        return { code: 'TOOL_UNAVAILABLE', message: `MCP server ${JSON.stringify(server.name)} can't be used: ${lease.connection.reason ?? asError(error).message}` }
      } finally {
        lease.release()
      }
    },
    // If it fails, the first start tries again.
    prepare: async () => { if (place !== undefined) await host.launcher.prepare().catch(() => {}) },
    tryStart: async () => await tryStart(options.env['PATH'], place === undefined ? undefined : host.launcher),
    keepWarm (tools) { keptReady.keep(tools) },
    waiting: name => keptReady.waiting(name),
    endSession (id) { mcpServers?.endSession(id) },
    async close () {
      await keptReady.close()
      await Promise.allSettled(running)
      await mcpServers?.close()
      await networks?.close()
      await hosts.close()
      await Promise.all([threads.close(), host.pins.close()])
      await host.launcher.close()
      await options.audit.flush()
    }
  }
}
