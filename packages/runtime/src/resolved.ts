import { fileURLToPath } from 'node:url'
import type { ApiKey } from './api-keys.ts'
import { SettingsError, type Settings } from './settings.ts'

/**
 * The API keys in force: `API_KEYS_JSON` replaces `API_KEY`, which alone is an admin's (RC3).
 *
 * @throws SettingsError when authentication is off and a key is configured, or the service listens beyond loopback.
 */
export function apiKeysOf (settings: Settings): readonly ApiKey[] {
  const keys = settings.API_KEYS_JSON ?? (settings.API_KEY === undefined ? [] : [legacyKey(settings.API_KEY)])
  if (!settings.API_AUTH_DISABLED) return keys
  if (keys.length > 0) throw new SettingsError(['API_AUTH_DISABLED=1 works only when neither API_KEY nor API_KEYS_JSON is set: unset one or the other'])
  if (!isLoopback(settings.HOST)) throw new SettingsError([`API_AUTH_DISABLED=1 works only on loopback: set HOST to 127.0.0.1 instead of ${settings.HOST}`])
  return keys
}

/**
 * Where Redis is.
 *
 * @throws SettingsError when there is no Redis to connect to: only `toolyard start` brings its own.
 */
export function redisUrlOf (settings: Settings): string {
  if (settings.REDIS_URL === undefined) {
    throw new SettingsError(['REDIS_URL must be set (redis://host:port, rediss://host:port or unix:/path); `toolyard start` runs an embedded Redis instead'])
  }
  return settings.REDIS_URL
}

/** Where tools come from, and what the operator decided about skills. */
export interface ToolSources {
  manifests: readonly string[]
  skills: {
    allowScripts: boolean
    contextMode: 'full' | 'readOnDemand'
    enabled: readonly string[] | 'all'
    disabled: readonly string[]
    /** Where the programs of skills are looked for. */
    path: string
  }
}

/** The manifests in force, `TOOL_MANIFESTS` or else the bundled samples, and the settings of skills (S35, S40, X32). */
export function toolSourcesOf (settings: Settings, env: NodeJS.ProcessEnv): ToolSources {
  return {
    manifests: settings.TOOL_MANIFESTS ?? bundledManifests,
    skills: {
      allowScripts: settings.SKILLS_ALLOW_SCRIPTS,
      contextMode: settings.SKILLS_CONTEXT_MODE,
      enabled: settings.SKILLS_ENABLED.includes('all') ? 'all' : settings.SKILLS_ENABLED,
      disabled: settings.SKILLS_DISABLED,
      path: env['PATH'] ?? ''
    }
  }
}

const bundledManifests = ['samples/tools.json', 'samples/tool_manifest.json', 'samples/skills'].map(path => fileURLToPath(new URL(`../../../${path}`, import.meta.url)))

/** How long finished jobs are kept, and how many of each queue. */
export function retentionOf (settings: Settings): { ageSec: number, count: number } {
  return { ageSec: settings.JOB_RETENTION_SEC, count: settings.JOB_RETENTION_COUNT }
}

function legacyKey (key: string): ApiKey {
  return { name: 'legacy-api-key', key, role: 'admin', queueAllowlist: undefined, sse: true }
}

function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
