import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModuleTries, Tool } from '@toolyard/manifests'
import { openSandbox } from './open-sandbox.ts'
import type { Sandbox, SandboxOptions } from './run/sandbox.ts'
import { createTryHosts, tryModule } from './python/try/try-module.ts'

interface TryOptions extends Pick<SandboxOptions, 'env' | 'hidden' | 'defaultPermissions'> {
  /** Whether somebody wants them in the open where there is no whole sandbox. */
  evenInTheOpen: boolean
}

interface ImportTries extends ModuleTries {
  /** Why nothing was imported; undefined: it was. */
  skipped?: string
}

/**
 * Imports the modules of Python tools as their first calls would, and constructs their classes;
 * none is executed. This is code of whoever wrote the manifest: it runs in a box, in an empty workspace, without the
 * network and the service's files, whatever the manifest asks for. Without a whole sandbox nothing is imported, unless
 * `evenInTheOpen`. What is wrong with the machine, such as a missing Python, is the reason of each tool's fault.
 */
export async function tryImports (tools: readonly Tool[], options: TryOptions): Promise<ImportTries> {
  if (tools.every(tool => tool.run.kind !== 'python')) return { faults: [], signatures: [] }
  const workspaceDir = await mkdtemp(join(tmpdir(), 'toolyard-try-'))
  let sandbox: Sandbox | undefined
  try {
    sandbox = await openSandbox({ ...options, mode: 'auto', workspaceDir, python: true })
    if (sandbox.report.level !== 'full' && !options.evenInTheOpen) return { faults: [], signatures: [], skipped: gaps(sandbox) }
    return await tryAll(tools, { sandbox, workspaceDir, env: options.env })
  } finally {
    sandbox?.close()
    await rm(workspaceDir, { recursive: true, force: true })
  }
}

async function tryAll (
  tools: readonly Tool[], { sandbox, workspaceDir, env }: { sandbox: Sandbox, workspaceDir: string, env: NodeJS.ProcessEnv }
): Promise<ModuleTries> {
  const hosts = createTryHosts(env, workspaceDir)
  try {
    const tried = await tryModule(tools, { hosts, workspaceDir, boxOf: tool => sandbox.tryBoxOf(tool), hasNetwork: tool => sandbox.permissionsOf(tool).includes('network'), signatures: true })
    return {
      faults: tried.flatMap(({ fault }) => fault ?? []),
      signatures: tools.flatMap((tool, at) => {
        const parameters = tried[at]?.signature
        return parameters === undefined ? [] : [{ tool, parameters }]
      })
    }
  } finally {
    await hosts.close()
  }
}

function gaps ({ report: { level, findings } }: Sandbox): string {
  const missing = findings.filter(({ layer, holds }) => !holds && layer !== 'cgroup').map(({ layer, detail }) => `${layer}: ${detail}`)
  return `${level === 'none' ? 'there is no sandbox here' : 'the sandbox here has gaps'} (${missing.join('; ')})`
}
