import { mkdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { createExecutors, openSandbox, storedNamesOf, type ExecutorOptions } from '@toolyard/executors'
import type { CallError } from '@toolyard/contract'
import { isRecord, type McpTool } from '@toolyard/contract/terms'
import type { McpServer } from '@toolyard/manifests'
import { declarationsOf, OwnerTurns, redisTargetOf, sealKeysOf, secretPlacesOf, serviceFilesOf, type Settings } from '@toolyard/runtime'
import { connectRedis, isConnected, openSecrets, openSecretSource, type StoredSecrets } from '@toolyard/store'
import { CommandError } from '../terminal/exit-status.ts'

export type Offer = { kind: 'offered', server: McpServer, tools: readonly McpTool[] } | { kind: 'failed', server: McpServer, problem: string }

const connectMs = 3_000
/** A program has a bounded time for its start, and all of them together a few processors: others wait without end. */
const longestMs = 2_147_483_647

interface Means {
  settings: Settings
  env: NodeJS.ProcessEnv
}

/** Asks servers as a worker with these settings would: in its box, with its environment, its workspace and the operator's secrets. */
export async function askServers (servers: readonly McpServer[], means: Means, onLine: (line: string) => void): Promise<Offer[]> {
  const { settings } = means
  const keys = servers.some(server => storedNamesOf(server).length > 0) ? sealKeysOf(settings) : undefined
  const source = (stored?: StoredSecrets): ExecutorOptions['secrets'] => openSecretSource(stored, secretPlacesOf(settings), ({ from, secret, reason }) => { onLine(`${from}: ${secret === undefined ? '' : `${secret}: `}${reason}`) })
  if (keys === undefined) return await ask(servers, means, source(), onLine)
  const redis = connectRedis(redisTargetOf(settings), 'request', () => {})
  try {
    if (!await isConnected(redis, connectMs)) throw new CommandError('Redis can\'t be reached, which has the secrets that the servers are given: see whether REDIS_URL is right')
    return await ask(servers, means, source(openSecrets(redis, keys)), onLine)
  } finally {
    redis.disconnect()
  }
}

async function ask (
  servers: readonly McpServer[], { settings, env }: Means, secrets: ExecutorOptions['secrets'], onLine: (line: string) => void
): Promise<Offer[]> {
  await mkdir(settings.WORKSPACE_DIR, { recursive: true })
  const sandbox = await openSandbox({
    mode: settings.SANDBOX,
    env: process.env,
    workspaceDir: settings.WORKSPACE_DIR,
    hidden: serviceFilesOf(settings, process.env),
    kept: declarationsOf(settings, process.env),
    defaultPermissions: settings.TOOL_DEFAULT_PERMISSIONS
  })
  const executors = createExecutors({
    sandbox,
    workspaceDir: settings.WORKSPACE_DIR,
    env,
    secrets,
    maxOutputBytes: settings.MAX_OUTPUT_BYTES,
    http: { privateHosts: settings.HTTP_PRIVATE_HOSTS },
    audit: { record: () => {}, flush: async () => {} },
    logger: { warn: (_, message) => { onLine(message) } }
  })
  try {
    const starts = new OwnerTurns(Math.max(2, availableParallelism()))
    return await Promise.all(servers.map(async (server): Promise<Offer> => {
      const ask = async (): ReturnType<typeof executors.toolsOf> => await executors.toolsOf(server)
      const tools = server.connection.kind === 'stdio' ? await starts.run('', ask, { ms: longestMs }) : await ask()
      return 'code' in tools ? { kind: 'failed', server, problem: problemOf(tools) } : { kind: 'offered', server, tools }
    }))
  } finally {
    await executors.close()
    sandbox.close()
  }
}

function problemOf ({ message, details }: CallError): string {
  const hint = isRecord(details) ? details['hint'] : undefined
  return typeof hint === 'string' ? `${message}${/[.!?]$/.test(message) ? '' : '.'} ${hint}` : message
}
