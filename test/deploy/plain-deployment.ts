import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../repo/source-tree.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { readCompose, type ComposeService } from './compose.ts'
import { allSteps, environmentOf, lastOf, readStages } from './dockerfile.ts'
import { layOutImages } from './image-tree.ts'
import { freePort } from '../support/redis-process.ts'
import { startPlain, type PlainService } from './plain-service.ts'

/** docker-compose.yml as plain processes on loopback. */
interface PlainDeployment {
  /** The admin key that `npm run secrets` made. */
  key: string
  redis: PlainService
  apis: Array<PlainService & { port: string }>
  workers: PlainService[]
}

interface DeploymentOptions {
  dir: string
  /** Settings on top of those of docker-compose.yml, for an image whose files are in that directory. */
  env: (image: string) => Record<string, string>
}

/**
 * Starts what docker-compose.yml says, with the files that the Dockerfile says, as processes: the same commands,
 * settings, secrets and health checks. Only paths and ports are others, because there is one file system and one loopback.
 */
export async function startDeployment (t: Cleanup, { dir, env }: DeploymentOptions): Promise<PlainDeployment> {
  const { api, worker, redis } = readCompose().services
  const images = join(dir, 'images')
  await layOutImages(['api', 'worker'], images)
  const redisPort = String(await freePort())
  const { key, secrets } = makeSecrets(dir, redisPort)
  const root = (name: string): string => join(images, name)
  const volumes = join(dir, 'volumes')
  for (const volume of ['redis-data', 'workspace', 'audit']) mkdirSync(join(volumes, volume), { recursive: true })

  const placeIn = (name: string) => (text: string): string => text
    .replace('/run/secrets', secrets)
    .replace(/^\/data$/, join(volumes, 'redis-data'))
    .replace('/srv/toolyard/workspace', join(volumes, 'workspace'))
    .replace('/srv/toolyard/audit', join(volumes, 'audit'))
    .replace(/^\/app\//, `${root(name)}/app/`)

  const launch = async (name: 'api' | 'worker', service: ComposeService, number: number): Promise<PlainService & { port: string }> => {
    const steps = allSteps(readStages(), name)
    const place = placeIn(name)
    const [port, metricsPort] = [String(await freePort()), String(await freePort())]
    const declared = { ...environmentOf(steps), ...service.environment }
    const own: Record<string, string> = { HOST: '127.0.0.1', PORT: port, METRICS_PORT: metricsPort }
    const change = (text: string): string => place(text).replace(`:${declared['PORT'] ?? ''}/`, `:${port}/`).replace(`:${declared['METRICS_PORT'] ?? ''}/`, `:${metricsPort}/`)
    const [, , ...entry] = lastOf(steps, 'ENTRYPOINT')?.args ?? []
    const [program = '', ...args] = [...entry, ...service.command ?? lastOf(steps, 'CMD')?.args ?? []].map(place)
    const started = await startPlain(t, {
      name: `${name}-${number}`,
      program,
      args,
      env: { PATH: process.env['PATH'], HOME: dir, ...Object.fromEntries(Object.entries(declared).map(([variable, value]) => [variable, place(value)])), ...own, ...env(root(name)) },
      cwd: join(root(name), lastOf(steps, 'WORKDIR')?.args[0] ?? '/'),
      check: (service.healthcheck?.test ?? []).slice(1).map(change),
      logDir: dir
    })
    return { ...started, port }
  }

  const startedRedis = await startRedis(t, redis, { dir, port: redisPort, place: placeIn('redis') })
  const [apis, workers] = await Promise.all([
    Promise.all(Array.from({ length: api.deploy?.replicas ?? 1 }, (_, index) => launch('api', api, index + 1))),
    Promise.all(Array.from({ length: worker.deploy?.replicas ?? 1 }, (_, index) => launch('worker', worker, index + 1)))
  ])
  return { key, redis: startedRedis, apis, workers }
}

/** Makes the secrets as an operator does; the address of Redis gets this one's port. */
function makeSecrets (dir: string, redisPort: string): { key: string, secrets: string } {
  const secrets = join(dir, 'secrets')
  execFileSync(process.execPath, [join(repoRoot, 'scripts/secrets.mjs'), secrets])
  const address = join(secrets, 'redis_url')
  chmodSync(address, 0o600)
  writeFileSync(address, readFileSync(address, 'utf8').replace('@redis:6379', `@127.0.0.1:${redisPort}`))
  const [first] = JSON.parse(readFileSync(join(secrets, 'api_keys'), 'utf8')) as Array<{ key: string }>
  return { key: first?.key ?? '', secrets }
}

async function startRedis (
  t: Cleanup, service: ComposeService, { dir, port, place }: { dir: string, port: string, place: (text: string) => string }
): Promise<PlainService> {
  const [program = '', ...args] = (service.command ?? []).map(place)
  const [checker = '', ...check] = (service.healthcheck?.test ?? []).slice(1)
  return await startPlain(t, {
    name: 'redis',
    program,
    args: [...args, '--bind', '127.0.0.1', '--port', port],
    env: { PATH: process.env['PATH'] },
    cwd: dir,
    check: [checker, '-p', port, ...check],
    logDir: dir
  })
}
