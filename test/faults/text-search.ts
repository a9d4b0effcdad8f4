import { orElse } from '@toolyard/contract/terms'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Redis } from '@toolyard/store'

/** Gets each place that was looked at, with what is there. */
export type Look = (place: string, bytes: Buffer | string) => void

interface ProcessPlace {
  pid: number
  parent: number
  commandLine: string
}

const mostBytes = 16_777_216

/** Looks at the command line, the environment, the open files and the mapped files of all processes below one. */
export function lookAtProcesses (root: number, look: (process: ProcessPlace, ...seen: Parameters<Look>) => void): ProcessPlace[] {
  const every = readdirSync('/proc').filter(name => /^\d+$/.test(name)).flatMap(name => {
    const status = textOf(`/proc/${name}/stat`)
    const parent = Number(/\) \S (\d+)/.exec(status)?.[1])
    return status === '' ? [] : [{ pid: Number(name), parent, commandLine: textOf(`/proc/${name}/cmdline`).replaceAll('\0', ' ') }]
  })
  const below = (pid: number): ProcessPlace[] => every.filter(({ parent }) => parent === pid).flatMap(each => [each, ...below(each.pid)])
  const all = below(root)
  for (const each of all) {
    const at = `/proc/${each.pid}`
    look(each, 'cmdline', each.commandLine)
    look(each, 'environ', textOf(`${at}/environ`))
    for (const fd of namesIn(`${at}/fd`)) lookAtFile(each, look, `${at}/fd/${fd}`)
    for (const range of namesIn(`${at}/map_files`)) lookAtFile(each, look, `${at}/map_files/${range}`)
  }
  return all
}

/** Files of the system hold nothing of a service. */
const ofSystem = /^\/(?:usr|lib|lib64|bin|sbin|etc|dev|sys)\//

function lookAtFile (process: ProcessPlace, look: (process: ProcessPlace, ...seen: Parameters<Look>) => void, path: string): void {
  try {
    const target = readlinkSync(path)
    const { size } = statSync(path)
    if (ofSystem.test(target) || !statSync(path).isFile() || size > mostBytes) return
    look(process, `${path} ${target}`, readFileSync(path))
  } catch { /* It is gone, or closed. */ }
}

/** Looks at all files below a directory, and at their names. */
export function lookAtFiles (directory: string, look: Look): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    look(path, entry.name)
    try {
      if (entry.isDirectory()) lookAtFiles(path, look)
      else if (entry.isFile()) look(path, readFileSync(path))
    } catch { /* It is gone. */ }
  }
}

/** Looks at all values of Redis, as they were written: a dump may be compressed. */
export async function lookAtRedis (redis: Redis, look: Look): Promise<number> {
  const keys = await redis.keys('*')
  for (const key of keys) {
    const type = await redis.type(key)
    const readers: Record<string, () => Promise<unknown>> = {
      string: async () => await redis.get(key),
      hash: async () => await redis.hgetall(key),
      list: async () => await redis.lrange(key, '0', '-1'),
      set: async () => await redis.smembers(key),
      zset: async () => await redis.zrange(key, '0', '-1'),
      stream: async () => await redis.xrange(key, '-', '+')
    }
    const value = await readers[type]?.()
    look(`redis ${key}`, key)
    look(`redis ${key}`, JSON.stringify(value ?? null))
  }
  return keys.length
}

function textOf (path: string): string {
  return orElse(() => readFileSync(path, 'latin1'), '')
}

function namesIn (path: string): string[] {
  return orElse(() => readdirSync(path), [])
}
