import { mkdir } from 'node:fs/promises'
import { createExecutors, openSandbox } from '@toolyard/executors'
import type { McpTool } from '@toolyard/contract/terms'
import type { McpServer } from '@toolyard/manifests'
import { serviceFilesOf, type Settings } from '@toolyard/runtime'

/** What a server offers, or why it couldn't be asked. */
export type Offer = { server: McpServer, tools: readonly McpTool[] } | { server: McpServer, problem: string }

/** Asks servers as a worker with these settings would: in its box, with its environment and its workspace. */
export async function askServers (
  servers: readonly McpServer[], { settings, env }: { settings: Settings, env: NodeJS.ProcessEnv }, onLine: (line: string) => void
): Promise<Offer[]> {
  await mkdir(settings.WORKSPACE_DIR, { recursive: true })
  const sandbox = await openSandbox({
    mode: settings.SANDBOX,
    env: process.env,
    workspaceDir: settings.WORKSPACE_DIR,
    hidden: serviceFilesOf(settings, process.env),
    defaultPermissions: settings.TOOL_DEFAULT_PERMISSIONS
  })
  const executors = createExecutors({
    sandbox,
    workspaceDir: settings.WORKSPACE_DIR,
    env,
    maxOutputBytes: settings.MAX_OUTPUT_BYTES,
    http: { privateHosts: settings.HTTP_PRIVATE_HOSTS },
    audit: { record: () => {}, flush: async () => {} },
    logger: { warn: (_, message) => { onLine(message) } }
  })
  try {
    return await Promise.all(servers.map(async (server): Promise<Offer> => {
      const tools = await executors.toolsOf(server)
      return 'code' in tools ? { server, problem: tools.message } : { server, tools }
    }))
  } finally {
    await executors.close()
    sandbox.close()
  }
}
