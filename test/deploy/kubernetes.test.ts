import { readSettings } from '@toolyard/runtime'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { repoRoot } from '../repo/source-tree.ts'
import { readCompose, withDefaults } from './compose.ts'
import { allSteps, environmentOf as imageEnvironmentOf, readStages } from './dockerfile.ts'
import { faultsOf, manifestFiles, readManifests, type KubernetesObject, type Manifest } from './kubernetes.ts'
import { strangers } from './setting-names.ts'

interface Probe { httpGet?: { path: string, port: string } }
interface Container {
  name: string
  image: string
  args?: string[]
  env?: Array<{ name: string, value?: string }>
  ports: Array<{ name: string, containerPort: number }>
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  lifecycle?: { preStop: { exec: { command: string[] } } }
  securityContext: object
  volumeMounts: Array<{ name: string, mountPath: string, subPathExpr?: string }>
}
interface Pod {
  terminationGracePeriodSeconds: number
  securityContext: object
  containers: Container[]
  volumes: Array<{
    name: string, secret?: { secretName: string, items: Array<{ key: string }> }, persistentVolumeClaim?: { claimName: string }
  }>
}
interface Kustomization { kind: string, resources?: string[], components?: string[], images?: Array<{ name: string }> }

const manifests = readManifests()
const kustomizations = manifests.filter(({ file }) => file.endsWith('kustomization.yaml')) as unknown as Array<{ file: string, object: Kustomization }>
const objects = manifests.filter(({ file }) => !file.endsWith('kustomization.yaml'))

function find (kind: string, name: string): KubernetesObject {
  const found = objects.find(({ object }) => object.kind === kind && object.metadata.name === name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found.object
}

function podOf (kind: string, name: string): { pod: Pod, container: Container, labels: Record<string, string> } {
  const { template } = find(kind, name)['spec'] as { template: { metadata: { labels: Record<string, string> }, spec: Pod } }
  const [container] = template.spec.containers
  if (container === undefined) throw new Error(`${name} has no container`)
  return { pod: template.spec, container, labels: template.metadata.labels }
}

const configuration = find('ConfigMap', 'toolyard')['data'] as Record<string, string>
const api = podOf('Deployment', 'toolyard-api')
const worker = podOf('Deployment', 'toolyard-worker')
const redis = podOf('StatefulSet', 'toolyard-redis')

function environmentOf ({ env = [] }: Container): Record<string, string> {
  return { ...configuration, ...Object.fromEntries(env.map(({ name, value }) => [name, value ?? ''])) }
}

t.test('every object is valid by the schemas of Kubernetes and KEDA, without unknown fields', async t => {
  for (const { file, object } of objects) t.strictSame(await faultsOf(object), [], `${file}: ${object.kind} ${object.metadata.name}`)
  const planted = structuredClone(find('Deployment', 'toolyard-api')) as KubernetesObject & { spec: { template: { spec: Record<string, unknown> } } }
  planted.spec.template.spec['hostUser'] = false
  planted.spec.template.spec['terminationGracePeriodSeconds'] = 'soon'
  t.equal((await faultsOf(planted)).length, 2, 'and slips would be found')
})

t.test('the kustomizations name every file, and only files that are there', async t => {
  const placesOf = ({ resources = [], components = [] }: Kustomization): string[] => [...resources, ...components]
  const named = new Set(kustomizations.flatMap(({ file, object }) => [file, ...placesOf(object).map(path => {
    const place = normalize(join(dirname(file), path))
    const isFile = place.endsWith('.yaml')
    t.ok(existsSync(join(repoRoot, 'deploy/kubernetes', place, isFile ? '' : 'kustomization.yaml')), `${file}: ${path}`)
    return place
  })]))
  t.strictSame(manifestFiles().filter(file => !named.has(file)), ['overlays/example/secret.example.yaml'])
  const images = kustomizations.flatMap(({ object }) => object.images ?? []).map(({ name }) => name)
  t.strictSame(images, [api.container.image, worker.container.image])
})

t.test('the environments hold settings with good values, and files of the Secret that are mounted', async t => {
  const secret = find('Secret', 'toolyard')['stringData'] as Record<string, string>
  for (const { pod, container } of [api, worker]) {
    const environment = environmentOf(container)
    t.strictSame(strangers(Object.keys(environment)), [])
    const items = pod.volumes.find(({ name }) => name === 'secrets')?.secret?.items.map(({ key }) => key) ?? []
    for (const key of items) t.ok(Object.hasOwn(secret, key), key)
    const files = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'))
    t.strictSame(files.map(([, path]) => path.split('/').at(-1)).sort(), items.sort())
    const place = container.volumeMounts.find(({ name }) => name === 'secrets')?.mountPath ?? ''
    for (const [name, path] of files) t.equal(dirname(path), place, name)
    t.doesNotThrow(() => readSettings(Object.fromEntries(Object.entries(environment).filter(([name]) => !name.endsWith('_FILE')))))
  }
  t.doesNotThrow(() => readSettings({ REDIS_URL: secret['redis_url'], API_KEYS_JSON: secret['api_keys'] }))
})

t.test('the example of the Secret gives Redis the rights that npm run secrets gives', async t => {
  const secret = find('Secret', 'toolyard')['stringData'] as Record<string, string>
  const script = readFileSync(join(repoRoot, 'scripts/secrets.mjs'), 'utf8')
  const rights = /^const rights = '(.*)'$/m.exec(script)?.[1]
  t.ok(rights !== undefined && secret['redis_acl']?.includes(rights))
  t.strictSame(Object.keys(secret).sort(), Object.keys(readCompose().secrets).sort())
})

t.test('the example of the Secret, and the command above it, name the Redis of the component', async t => {
  const { object } = objects.find(({ file, object: { kind } }) => file.startsWith('components/redis') && kind === 'Service') ?? {}
  const secret = find('Secret', 'toolyard')['stringData'] as Record<string, string>
  t.equal(new URL(secret['redis_url'] ?? '').hostname, object?.metadata.name)
  const example = readFileSync(join(repoRoot, 'deploy/kubernetes/overlays/example/secret.example.yaml'), 'utf8')
  t.match(example, `npm run secrets -- --redis ${object?.metadata.name}`)
})

t.test('the API believes the ingress controller, a pod of the cluster, who a visitor is; the chart says the same', async t => {
  t.strictSame(readSettings({ TRUST_PROXY: configuration['TRUST_PROXY'] }).TRUST_PROXY, ['uniquelocal', '100.64.0.0/10'])
  t.match(readFileSync(join(repoRoot, 'deploy/helm/toolyard/templates/config.yaml'), 'utf8'), /^ {2}TRUST_PROXY: uniquelocal,100\.64\.0\.0\/10$/m)
})

t.test('every volume, claim, account and port that is named exists', async t => {
  for (const { pod, container } of [api, worker, redis]) {
    const claims = (find('StatefulSet', 'toolyard-redis')['spec'] as { volumeClaimTemplates: Array<{ metadata: { name: string } }> }).volumeClaimTemplates.map(({ metadata }) => metadata.name)
    const volumes = [...pod.volumes.map(({ name }) => name), ...container === redis.container ? claims : []]
    t.strictSame(container.volumeMounts.map(({ name }) => name).filter(name => !volumes.includes(name)), [])
    for (const { persistentVolumeClaim: claim } of pod.volumes) if (claim !== undefined) t.ok(find('PersistentVolumeClaim', claim.claimName))
    const ports = container.ports.map(({ name }) => name)
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      if (probe.httpGet !== undefined) t.ok(ports.includes(probe.httpGet.port))
    }
  }
  const portOf = (container: Container, name: string): string => String(container.ports.find(port => port.name === name)?.containerPort)
  t.equal(portOf(api.container, 'http'), environmentOf(api.container)['PORT'])
  for (const { container } of [api, worker]) t.equal(portOf(container, 'metrics'), configuration['METRICS_PORT'])
  t.match(redis.container.ports, [{ containerPort: 6379 }])
})

t.test('probes ask /health whether to restart and /ready whether to send work', async t => {
  for (const { container: { startupProbe, livenessProbe, readinessProbe } } of [api, worker]) {
    t.strictSame([startupProbe, livenessProbe, readinessProbe].map(probe => probe.httpGet?.path), ['/health', '/health', '/ready'])
  }
})

t.test('selectors find the right pods', async t => {
  const pods: Record<string, Record<string, string>> = { api: api.labels, worker: worker.labels, redis: redis.labels }
  const selecting = objects.flatMap(({ file, object: { kind, metadata, spec } }: Manifest) => {
    const { selector, podSelector } = (spec ?? {}) as { selector?: Record<string, unknown>, podSelector?: { matchLabels?: object } }
    const labels = kind === 'Service' ? selector : selector?.['matchLabels'] ?? podSelector?.matchLabels
    return labels === undefined ? [] : [{ at: `${file}: ${kind} ${metadata.name}`, labels: labels as Record<string, string> }]
  })
  t.ok(selecting.length >= 9)
  for (const { at, labels } of selecting) {
    t.equal(Object.values(pods).filter(pod => Object.entries(labels).every(([name, value]) => pod[name] === value)).length, 1, at)
  }
})

t.test('pods have the time to stop that their settings promise', async t => {
  for (const { pod, container } of [api, worker]) {
    const before = Number(container.lifecycle?.preStop.exec.command.at(-1) ?? 0)
    t.ok(pod.terminationGracePeriodSeconds > before + Number(environmentOf(container)['SHUTDOWN_GRACE_SEC']) + 5)
  }
  t.ok(Number(environmentOf(api.container)['SHUTDOWN_GRACE_SEC']) > 60, 'the longest batch is answered')
})

t.test('no pod is root, writes to its image, gains privileges or holds a capability', async t => {
  for (const { pod, container } of [api, worker, redis]) {
    t.match(pod, { automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } }, container.name)
    t.match(container.securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }, container.name)
  }
  t.match(worker.pod, { hostUsers: false, securityContext: { seccompProfile: { type: 'Localhost' } } })
  t.match(worker.container.securityContext, { procMount: 'Unmasked' })
  t.match(environmentOf(worker.container), { SANDBOX: 'require' })
})

t.test('autoscalers and budgets name deployments that exist, and Redis runs as it does in docker-compose.yml', async t => {
  const target = (find('HorizontalPodAutoscaler', 'toolyard-api')['spec'] as { scaleTargetRef: { kind: string, name: string } }).scaleTargetRef
  t.ok(find(target.kind, target.name))
  const scaled = find('ScaledObject', 'toolyard-worker')['spec'] as { scaleTargetRef: { name: string }, triggers: Array<{ metadata: { query: string, threshold: string } }> }
  t.ok(find('Deployment', scaled.scaleTargetRef.name))
  t.match(scaled.triggers[0]?.metadata.query, 'toolyard_queue_jobs{')
  t.ok(Number(scaled.triggers[0]?.metadata.threshold) <= Number(environmentOf(worker.container)['WORKER_CONCURRENCY']))
  const compose = readCompose().services.redis
  t.strictSame(redis.container.args?.map(arg => arg.replace('/run/secrets/toolyard/', '/run/secrets/')), compose.command)
  t.equal(redis.container.image, withDefaults(compose.image))
  t.equal((parse(readFileSync(join(repoRoot, 'deploy/kubernetes/base/kustomization.yaml'), 'utf8')) as { namespace: string }).namespace, find('Namespace', 'toolyard').metadata.name)
})

t.test('API and workers are one user in the volumes and different ones on the node; Redis is another', async t => {
  const [ofApi, ofWorker, ofRedis] = [api, worker, redis].map(({ pod }) => (pod.securityContext as { runAsUser?: number }).runAsUser ?? 0)
  t.equal(ofApi, ofWorker, 'each reads what the other wrote in a session')
  t.match(worker.pod, { hostUsers: false }, 'no tool uses up what the kernel counts for the API')
  t.not(ofRedis, ofWorker)
  t.notOk([ofApi, ofRedis].includes(0), 'and none is root')
  for (const { pod } of [api, worker]) t.match(pod.securityContext, { fsGroup: 1000, fsGroupChangePolicy: 'OnRootMismatch' }, 'a new volume is for both')
})

t.test('API and workers have the same workspace and the same directories of sessions', async t => {
  const placesOf = ({ pod, container }: typeof api): string[] => pod.volumes.flatMap(({ name, persistentVolumeClaim: claim }) => {
    const mount = container.volumeMounts.find(each => each.name === name) as { mountPath?: string } | undefined
    return claim === undefined ? [] : [`${claim.claimName} ${mount?.mountPath ?? ''}`]
  })
  t.strictSame(placesOf(api), ['toolyard-workspace /srv/toolyard/workspace', 'toolyard-sessions /srv/toolyard/sessions'])
  t.strictSame(placesOf(worker).slice(0, 2), placesOf(api))
  t.equal(configuration['SESSION_TEMPLATES_DIR'], imageEnvironmentOf(allSteps(readStages(), 'worker'))['SESSION_TEMPLATES_DIR'], 'and the directory of the images for templates')
})
