import { openSandbox, type Sandbox } from '@toolyard/executors'
import type { Registry } from '@toolyard/manifests'
import { serviceFilesOf, sessionSettingsOf, type Logger, type Settings } from '@toolyard/runtime'

/** Processes of all tools of a worker together, where control groups count them. */
const mostProcesses = 4_096

/**
 * Opens the sandbox, and says in the log how well it shuts tools in.
 *
 * @throws SandboxError when the settings require more than this machine has.
 */
export async function provideSandbox (settings: Settings, registry: Registry, logger: Logger): Promise<Sandbox> {
  const sandbox = await openSandbox({
    mode: settings.SANDBOX,
    env: process.env,
    workspaceDir: settings.WORKSPACE_DIR,
    sessionsDir: sessionSettingsOf(settings).dir,
    hidden: serviceFilesOf(settings, process.env),
    defaultPermissions: settings.TOOL_DEFAULT_PERMISSIONS,
    python: registry.all().some(({ tool }) => tool.run.kind === 'python'),
    networks: registry.all().some(({ tool }) => tool.network !== undefined),
    groupLimits: { processes: mostProcesses }
  })
  const { level, missing, findings, advice } = sandbox.report
  const gaps = findings.filter(finding => !finding.holds)
  if (level === 'full') logger.info({ sandbox: { level, missing } }, 'the sandbox is whole')
  else logger.warn({ sandbox: { level, missing }, gaps, advice }, level === 'none' ? 'tools run without a sandbox' : 'the sandbox has gaps')
  return sandbox
}
