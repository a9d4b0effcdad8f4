import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { repoRoot } from '../repo/source-tree.ts'

/** A service of docker-compose.yml, as far as the tests look at it. */
export interface ComposeService {
  image: string
  profiles?: string[]
  build?: { context: string, target: string, args?: Record<string, string> }
  user?: string
  command?: string[]
  environment?: Record<string, string>
  secrets?: string[]
  volumes?: string[]
  tmpfs?: string[]
  networks: string[]
  ports?: string[]
  healthcheck?: { test: string[] }
  depends_on?: Record<string, { condition: string }>
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  stop_grace_period?: string
  deploy?: { replicas?: number }
}

/** docker-compose.yml, as far as the tests look at it. */
export interface Compose {
  services: Record<'proxy' | 'api' | 'worker' | 'redis' | 'prometheus' | 'grafana', ComposeService>
  networks: Record<string, { internal?: boolean }>
  volumes: Record<string, object>
  secrets: Record<string, { file: string }>
}

/** Reads docker-compose.yml. */
export function readCompose (): Compose {
  return parse(readFileSync(join(repoRoot, 'docker-compose.yml'), 'utf8')) as Compose
}

/** A value of docker-compose.yml where none of its variables is set. */
export function withDefaults (value: string): string {
  return value.replace(/\$\{\w+:-([^}]*)\}/g, '$1')
}

/** A duration such as `75s`, in seconds. */
export function seconds (duration: string | undefined): number {
  const match = /^(\d+)s$/.exec(duration ?? '')
  if (match === null) throw new Error(`not a number of seconds: ${String(duration)}`)
  return Number(match[1])
}
