import type { CallError, Permission } from '@toolyard/contract'
import { asError } from '@toolyard/contract/terms'
import type { Tool } from '@toolyard/manifests'
import { auditOfCall } from './audit/audited-call.ts'
import { createBuiltins } from './builtin/builtins.ts'
import { runBuiltin } from './builtin/run-builtin.ts'
import { createNetworks } from './egress/networks.ts'
import { withEgress } from './egress/with-egress.ts'
import { toolEnvironment } from './run/environment.ts'
import { withFileArguments } from './run/file-arguments.ts'
import { runCommand } from './command/run-command.ts'
import { createKeptReady } from './kept-ready.ts'
import { endedForShortage, failure, ownerOfCall, type Outcome, type RunContext } from './run/outcome.ts'
import type { ExecutorOptions, Executors } from './executor-options.ts'
import { closeStrayDescriptors, findOnPath, createLauncher, createPins, openLimits, type Shortage } from '@toolyard/sandbox'
import type { McpServers } from './mcp/servers.ts'
import { serverTool } from './mcp/server-tool.ts'
import { storedNamesOf } from './mcp/wire/setting-text.ts'
import { createHosts } from './python/host/hosts.ts'
import { createOutputCheck } from './python/call/outputs.ts'
import { withReturnedFiles } from './result/returned-files.ts'
import { createDeclaredCheck, type CompileSchema } from './result/declared-output.ts'
import { pinFailure } from './python/call/pin-failure.ts'
import { runPython } from './python/call/run-python.ts'
import { tryModule } from './python/try/try-module.ts'
import { hinted, withHint } from './result/hint.ts'
import { SharedForms } from './result/shared-forms.ts'
import { openNamed, withSecrets, type CallForms } from './with-secrets.ts'
import { interruptionError } from './run/interruption.ts'
import { createThreads } from './run/create-threads.ts'
import type { ToolCall, WorkerHost } from './run/tool-call.ts'
import { readSkill } from './skill/read-skill.ts'
import { tryStart } from './try-start.ts'
import { runSkill } from './skill/run-skill.ts'
import { asChosen } from './skill/three-files/choose.ts'
import { runSkillCommand } from './skill/three-files/run-skill-command.ts'
import { runSkillProgram } from './skill-program/run-skill-program.ts'

/**
 * Makes the executors of one worker. Between runs they keep open: the start helper, the hosts of Python tools, commands
 * that wait ready, connections to MCP servers, and for a while up to two threads. All of it ends with `close`, or with the
 * worker. Descriptors that the worker's process inherited, beside the first three, are closed: tools would get them.
 */
export function createExecutors (options: ExecutorOptions): Executors {
  closeStrayDescriptors()
  const running = new Set<Promise<Outcome>>()
  const threads = createThreads()
  const shared = new SharedForms<CallForms>()
  const requestForms = new SharedForms<readonly string[]>()
  const prlimit = findOnPath('prlimit', options.env['PATH'])
  const { sandbox } = options
  const groups = sandbox?.groups
  const compileSchema: CompileSchema = options.compileSchema ?? (() => async () => await Promise.resolve({ ok: true }))
  const worker: WorkerHost = {
    ...options,
    http: options.http ?? { privateHosts: [] },
    threads,
    launcher: sandbox?.launcher ?? createLauncher({ prefix: [] }, groups),
    pins: createPins(),
    onSurvivors: pids => { options.logger?.warn({ pids }, 'processes of a call outlived SIGKILL') },
    checkOutput: createDeclaredCheck(compileSchema)
  }
  const keptReady = createKeptReady(worker, options)
  const hosts = createHosts({
    workspaceDir: options.workspaceDir,
    env: toolEnvironment([], options.env).variables,
    groups,
    onSurvivors: worker.onSurvivors,
    onHostEnd: (root, message) => { options.logger?.warn({ root, message }, 'a Python host ended') }
  })
  const networks = sandbox?.networks === undefined
    ? undefined
    : createNetworks({
        means: sandbox.networks,
        policy: worker.http,
        groups,
        onConnection: options.onConnection,
        onClosed (key) {
          keptReady.endNetwork(key)
          hosts.endNetwork(key)
        }
      })
  const python = { hosts, checkOutput: createOutputCheck(worker.checkOutput) }
  let mcpServers: McpServers | undefined
  // `loadCodeOf` has loaded it where there are MCP servers: a worker without them is smaller.
  const loadServers = async (): Promise<McpServers> => {
    const { createServers } = await import('./mcp/servers.ts')
    mcpServers ??= createServers(worker)
    return mcpServers
  }
  const heldBy = (tool: Tool): readonly Permission[] | undefined => sandbox?.permissionsOf(tool) ?? tool.permissions
  const enforcedOf = (tool: Tool): readonly Permission[] | undefined => sandbox?.levelOf(tool) === 'none' ? undefined : sandbox?.permissionsOf(tool)
  const builtins = createBuiltins(options.builtins ?? {}, threads)

  async function runTool (named: Tool, args: Record<string, unknown>, context: RunContext): Promise<Outcome> {
    const tool = asChosen(named, args, heldBy(named))
    if (context.signal.aborted) return { ok: false, error: interruptionError({ kind: 'abort', reason: context.signal.reason }) }
    const held = heldBy(tool)
    const audit = auditOfCall(options.audit, args, {
      key: context.keyName ?? '',
      ...(context.tenant === undefined ? {} : { tenant: context.tenant }),
      permissions: held ?? [],
      sandbox: sandbox?.levelOf(tool) ?? 'none'
    })
    return await withEgress(tool, context, { networks, audit }, async network => await runIn({ tool, args, context, audit, held, network }))
  }

  async function runIn (named: Pick<ToolCall, 'tool' | 'args' | 'context' | 'audit' | 'held' | 'network'>): Promise<Outcome> {
    const { tool, context, held, network } = named
    const box = sandbox?.boxOf(tool, context.session, network)
    const filesDir = context.session?.dir ?? options.workspaceDir
    const group = tool.limits === undefined || tool.run.kind === 'mcp' || (box === undefined && tool.run.kind !== 'python')
      ? undefined
      : sandbox?.groups?.groupOf(tool.limits, tool.run.kind === 'python' ? 'inner' : 'box')
    const kept = keptReady.begin(tool, { box, network, context })
    let shortage: Shortage | undefined
    try {
      const files = await withFileArguments(tool.parameters, named.args, context, options)
      if (!files.ok) return files
      // Without a spread: in Node 20, each property after one that begins an object takes more than a microsecond.
      const ran = await runKind({
        worker,
        tool,
        args: files.args,
        context,
        audit: named.audit,
        held,
        network,
        filesDir,
        workspaceDir: box === undefined ? filesDir : options.workspaceDir,
        maxOutputBytes: Math.min(options.maxOutputBytes, tool.limits?.outputBytes ?? options.maxOutputBytes),
        launcher: worker.launcher,
        pins: worker.pins,
        onSurvivors: worker.onSurvivors,
        box,
        limit: box === undefined ? limitOf(tool) : undefined,
        group,
        share: groups?.share,
        own: groups && (pid => groups.own(pid, { owner: ownerOfCall(context), ended: short => { shortage = short } })),
        ready: kept.ready,
        trace: context.trace,
        used: context.used
      })
      if (!ran.ok && shortage !== undefined) return endedForShortage(shortage)
      const returned = await withReturnedFiles(ran, context, { knownAs: options.workspaceDir, mayRead: maySeeFiles(tool, held) })
      return withHint(returned, tool, enforcedOf(tool))
    } finally {
      for (const each of [...group === undefined ? [] : [group], ...kept.groups]) await each.remove()
      kept.ended()
    }
  }

  async function runKind (call: ToolCall): Promise<Outcome> {
    const { tool: { run, jobType } } = call
    switch (run.kind) {
      case 'command':
        return await runCommand(run, call)
      case 'python':
        return await pinFailure(run, call) ?? await runPython(run, call, { ...python, box: sandbox?.hostBoxOf(call.tool, call.network) })
      case 'skill':
        return await runSkill(run, call)
      case 'skill-command':
        return await runSkillCommand(run, call)
      case 'skill-run':
        return await runSkillProgram(run, call)
      case 'http': {
        // `loadCodeOf` has loaded it: a worker without HTTP tools is smaller.
        const { runHttp } = await import('./http/run-http.ts')
        return await runHttp(run, call, requestForms)
      }
      case 'mcp': {
        const { runMcp } = await import('./mcp/run-mcp.ts')
        return await runMcp(run, call, await loadServers())
      }
      case 'read-skill':
        return await readSkill(run, call.args, sandbox !== undefined && sandbox.report.level !== 'none')
      case 'builtin':
      case 'service': {
        const handler = builtins.get(jobType)
        return handler === undefined ? failure('TOOL_UNAVAILABLE', `no built-in tool has the job type ${jobType}`) : await runBuiltin(handler, call)
      }
    }
  }

  /** In a box the limits are part of it; in the open they cost a program more, so only a tool's own are set this way. */
  function limitOf ({ limits }: Tool): string[] | undefined {
    return prlimit === undefined || limits === undefined ? undefined : openLimits(prlimit, limits)
  }

  return {
    async run (tool, args, context) {
      const run = withSecrets(tool, context, { source: options.secrets, threads, shared }, async known => await runTool(tool, args, known))
      running.add(run)
      return await run.finally(() => { running.delete(run) })
    },
    tryModule: async tools => await tryModule(tools, {
      hosts,
      workspaceDir: options.workspaceDir,
      boxOf: tool => sandbox?.tryBoxOf(tool),
      hasNetwork: tool => sandbox?.permissionsOf(tool).includes('network') === true
    }),
    async toolsOf (server) {
      const tool = serverTool(server)
      const box = sandbox?.boxOf(tool)
      const stored = await openNamed(storedNamesOf(server), { keyName: undefined, tenant: undefined }, options.secrets)
      if (!stored.ok) return stored.error
      const lease = await (await loadServers()).use(server, { box, stored: stored.values })
      const failed = (error: CallError): CallError => hinted(error, tool, enforcedOf(tool))
      if (!lease.ok) return failed(lease.error)
      try {
        return await lease.connection.tools()
      } catch (error) {
        return failed({ code: 'TOOL_UNAVAILABLE', message: `MCP server ${JSON.stringify(server.name)} can't be used: ${lease.connection.reason ?? asError(error).message}` })
      } finally {
        lease.release()
      }
    },
    // If it fails, the first start tries again.
    prepare: async () => { await sandbox?.launcher?.prepare().catch(() => {}) },
    tryStart: async () => await tryStart(options.env['PATH'], { ...worker, box: sandbox?.plainBox }),
    keep (tools) {
      keptReady.keep(tools)
      mcpServers?.keep(tools)
    },
    waiting: name => keptReady.waiting(name),
    endSession (id) { mcpServers?.endSession(id) },
    async close () {
      await keptReady.close()
      await Promise.allSettled(running)
      await mcpServers?.close()
      await networks?.close()
      await hosts.close()
      await Promise.all([threads.close(), worker.pins.close()])
      await worker.launcher.close()
      await options.audit.flush()
    }
  }
}

/** Tools of the service hand on what others returned. */
function maySeeFiles ({ run }: Tool, held: readonly Permission[] | undefined): boolean {
  return run.kind === 'builtin' || run.kind === 'service' || held === undefined || held.includes('read_repo') || held.includes('write_files')
}
