import { mkdir } from 'node:fs/promises'
import { openSandbox, tryImports } from '@toolyard/executors'
import { boundLayer } from '@toolyard/sandbox'
import { manifestIn } from '../start/configuration.ts'
import { validateManifests, type ModuleTries, type Tool } from '@toolyard/manifests'
import { checkRedis, connectRedis, isConnected } from '@toolyard/store'
import { findRedisServer } from '@toolyard/store/server'
import { findRedisTarget, loadEnvFile, readSettings, sampleManifests, serviceFilesOf, settingWarnings, toolSourcesOf, type Settings } from '@toolyard/runtime'
import { programPaths } from '@toolyard/runtime/install'
import { missingForSkills } from '../needs/missing.ts'
import { missingVariables } from '../needs/variables.ts'
import { unnamedHosts } from '../needs/private-hosts.ts'
import type { Check } from './check.ts'

const connectMs = 3_000

/** Examines this machine under the settings of the environment and `.env`. @throws SettingsError */
export async function examine (): Promise<Check[]> {
  loadEnvFile()
  const settings = readSettings(process.env)
  return [
    ...settingWarnings(process.env).map((detail): Check => ({ subject: 'Settings', verdict: 'warning', detail })),
    await examineRedis(settings),
    ...await examineSandbox(settings),
    await examinePython(),
    ...await examineManifests(settings)
  ]
}

async function examineRedis (settings: Settings): Promise<Check> {
  const subject = 'Redis'
  const target = findRedisTarget(settings)
  if (target === undefined) {
    const server = await findRedisServer(process.env)
    return server === undefined
      ? { subject, verdict: 'error', detail: 'REDIS_URL is not set, and there is no redis-server 6.2 or newer on the PATH' }
      : { subject, verdict: 'good', detail: `embedded, version ${server.version}` }
  }
  let problem = ''
  const redis = connectRedis(target, 'request', error => { problem = `: ${error.message}` })
  try {
    if (!await isConnected(redis, connectMs)) return { subject, verdict: 'error', detail: `the configured one does not answer${problem}` }
    const { version, unsafe, doubtful } = await checkRedis(redis)
    const verdict = unsafe.length > 0 && !settings.ALLOW_UNSAFE_REDIS ? 'error' : unsafe.length + doubtful.length > 0 ? 'warning' : 'good'
    return { subject, verdict, detail: [`version ${version}`, ...unsafe, ...doubtful].join('; ') }
  } finally {
    redis.disconnect()
  }
}

/** As a worker would open it, but for the refusal to start. */
async function examineSandbox (settings: Settings): Promise<Check[]> {
  await mkdir(settings.WORKSPACE_DIR, { recursive: true })
  const missing = settings.SANDBOX === 'require' ? 'error' : 'warning'
  if (settings.SANDBOX === 'off') return [{ subject: 'Sandbox', verdict: 'warning', detail: 'SANDBOX=off: tools run in the open' }]
  const sandbox = await openSandbox({ mode: 'auto', env: process.env, workspaceDir: settings.WORKSPACE_DIR, hidden: serviceFilesOf(settings, process.env), defaultPermissions: settings.TOOL_DEFAULT_PERMISSIONS, python: true, networks: true })
  sandbox.close()
  const { findings } = sandbox.report
  // A box is whole without control groups.
  return findings.map(({ layer, holds, detail }) => ({ subject: `Sandbox: ${layer}`, verdict: holds ? 'good' : layer === boundLayer ? 'warning' : missing, detail }))
}

async function examinePython (): Promise<Check> {
  const [path] = await programPaths('python3', process.env)
  return path === undefined
    ? { subject: 'Python', verdict: 'warning', detail: 'there is no python3 on the PATH: tools in Python are unavailable' }
    : { subject: 'Python', verdict: 'good', detail: path }
}

async function examineManifests (settings: Settings): Promise<Check[]> {
  const { skills, policyFile, lock } = toolSourcesOf(settings, process.env)
  const found = manifestIn(process.cwd())
  const manifests = settings.TOOL_MANIFESTS ?? (found === undefined ? sampleManifests().split(',') : [found])
  const python = (await programPaths('python3', process.env)).length > 0
  const checks: Check[] = []
  const tryAll = async (tools: readonly Tool[]): Promise<ModuleTries> => {
    const { skipped, ...tries } = await tryImports(tools, {
      env: process.env,
      hidden: serviceFilesOf(settings, process.env),
      defaultPermissions: settings.TOOL_DEFAULT_PERMISSIONS,
      evenInTheOpen: false
    })
    if (skipped !== undefined) checks.push({ subject: 'Python modules', verdict: 'warning', detail: `not imported: ${skipped}` })
    return tries
  }
  const validation = await validateManifests([...manifests], {
    strict: false,
    skills,
    policyFile,
    lock,
    lacking: async read => [
      ...await missingForSkills(read.skills, read.settings, process.env), ...missingVariables(read, 'warning', process.env), ...unnamedHosts(read, 'warning', settings.HTTP_PRIVATE_HOSTS)
    ],
    ...(python ? { tryImports: tryAll } : {})
  })
  const findings = validation.findings.filter(({ severity }) => severity !== 'note')
  if (findings.length === 0) checks.push({ subject: 'Manifests', verdict: 'good', detail: `${manifests.length} without findings` })
  return [...checks, ...findings.map(({ severity, file, line, message, fix }): Check => ({ subject: 'Manifests', verdict: severity === 'error' ? 'error' : 'warning', detail: `${file}${line === undefined ? '' : `:${line}`}: ${message}${fix === undefined ? '' : `. ${fix}`}` }))]
}
