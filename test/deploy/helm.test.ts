import { Ajv } from 'ajv'
import fc from 'fast-check'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { readCompose, withDefaults } from './compose.ts'
import { shellBlocks } from './document-blocks.ts'
import { chartDir, helm, imbalances, leavesOf, plainObject, readChartFile, readTemplates, renderChart, type Values } from './helm.ts'
import { faultsOf, readManifests, type KubernetesObject } from './kubernetes.ts'
import { strangers } from './setting-names.ts'

interface Schema { properties?: Record<string, Schema>, additionalProperties?: unknown, type?: string }

const { version } = JSON.parse(readFileSync(join(repoRoot, 'package.json'), 'utf8')) as { version: string }
const values = readChartFile('values.yaml')
const schema = readChartFile('values.schema.json') as Schema
const templates = readTemplates()
const validate = new Ajv({ allErrors: true, strict: false }).compile(schema)

t.test('the chart has the version of the packages', async t => {
  t.match(readChartFile('Chart.yaml'), { apiVersion: 'v2', name: 'toolyard', version, appVersion: version })
})

t.test('compose and the example of the kustomization have that version too', async t => {
  const { api, worker } = readCompose().services
  t.strictSame([api.image, worker.image], [`toolyard-api:${version}`, `toolyard-worker:${version}`])
  const example = readFileSync(join(repoRoot, 'deploy/kubernetes/overlays/example/kustomization.yaml'), 'utf8')
  t.strictSame([...example.matchAll(/newTag: (\S+)/g)].map(([, tag]) => tag), [version, version])
})

t.test('the values fit their schema, which finds mistakes', async t => {
  t.equal(validate(values), true, JSON.stringify(validate.errors))
  for (const slip of [
    { worker: { ...values['worker'] as object, sandbox: false } }, { api: { ...values['api'] as object, replica: 2 } }, { config: { LOG_LEVEL: 1 } },
    { redis: { image: { digest: 'sha256:abc' } } }, { ingres: {} }
  ]) t.equal(validate({ ...values, ...slip }), false, JSON.stringify(slip))
})

t.test('schema and values have the same names', async t => {
  const compare = (given: Values, { properties = {} }: Schema, at: string): void => {
    const names = Object.keys(properties).filter(name => name !== 'global')
    t.strictSame(names.sort(), Object.keys(given).sort(), at)
    for (const [name, inner] of Object.entries(properties)) if (inner.properties !== undefined) compare(given[name] as Values, inner, `${at}.${name}`)
  }
  compare(values, schema, 'values')
})

t.test('every value that a template names exists, and every value is used by a template', async t => {
  const named = new Set([...templates.values()].flatMap(text => [...text.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path = '']) => path.slice(1))))
  const leaves = leavesOf(values)
  const covers = (path: string, leaf: string): boolean => leaf === path || leaf.startsWith(`${path}.`)
  t.strictSame([...named].filter(path => !leaves.some(leaf => covers(path, leaf))), [])
  t.strictSame(leaves.filter(leaf => ![...named].some(path => covers(path, leaf))), [])
})

t.test('braces and blocks of the templates are balanced, and each include has a definition', async t => {
  const defined = [...templates.values()].flatMap(text => [...text.matchAll(/define "([^"]+)"/g)].map(([, name]) => name))
  for (const [name, text] of templates) {
    t.strictSame(imbalances(text), [], name)
    for (const [, included] of text.matchAll(/include "([^"]+)"/g)) t.ok(defined.includes(included), `${name}: ${included}`)
    t.notMatch(text, /\t/, `${name} has no tabs`)
  }
  for (const broken of ['{{ if .a }}', 'a }} b', '{{ .a ', '{{ .a {{ .b }}', '{{ add (.a }}', '{{ end }}']) t.not(imbalances(broken).length, 0, broken)
})

t.test('a template that lost one of its braces or ends is found', async t => {
  const whole = [...templates.values()]
  await t.resolves(fc.assert(fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(), async (index, at) => {
    const text = whole[index] ?? ''
    const places = [...text.matchAll(/\{\{|\}\}|\{\{-? end -?\}\}/g)]
    const place = places[at % Math.max(places.length, 1)]
    if (place === undefined) return
    const broken = text.slice(0, place.index) + text.slice(place.index + place[0].length)
    if (imbalances(broken).length === 0) throw new Error(`not found: ${text.slice(place.index - 40, place.index + 40)}`)
  }), { numRuns: 100 }))
})

t.test('two releases in one namespace share no object: each is named by its release', async t => {
  const names = [...templates].flatMap(([file, text]) => [...text.matchAll(/^metadata:\n {2}name: (.*)$/gm)].map(([, name = '']) => ({ file, name })))
  t.ok(names.length > 15)
  for (const { file, name } of names) t.match(name, /^\{\{ include "toolyard\.(fullname|secret|redis)" \. \}\}/, `${file}: ${name}`)
  t.match(templates.get('_helpers.tpl'), /define "toolyard\.redis" -\}\}\n\{\{ include "toolyard\.fullname" \./)
  t.match(templates.get('NOTES.txt'), '--redis {{ include "toolyard.redis" . }}', 'and the Secret names its own Redis')
})

t.test('the shared settings are settings, and Redis is the image of docker-compose.yml', async t => {
  t.strictSame(strangers(Object.keys(values['config'] as Values)), [])
  const { image } = values['redis'] as { image: { repository: string, tag: string } }
  t.equal(`${image.repository}:${image.tag}`, withDefaults(readCompose().services.redis.image))
})

t.test('the values and files that docs/operations.md names exist', async t => {
  const text = shellBlocks('docs/operations.md', 'With Helm').join('\n')
  const set = [...text.matchAll(/--set ([\w.]+)=/g)].map(([, path]) => path)
  t.ok(set.length > 2)
  t.strictSame(set.filter(path => !leavesOf(values).includes(path ?? '')), [])
  t.match(text, 'deploy/helm/toolyard')
})

const missing = helm === undefined ? 'there is no helm on the PATH' : false
const ofFiles = (...files: string[]): KubernetesObject[] => readManifests()
  .filter(({ file }) => files.some(each => file.startsWith(each))).map(({ object }) => object)
  .filter(({ kind }) => !['Kustomization', 'Component', 'Namespace', 'Secret'].includes(kind))
const byName = (objects: readonly KubernetesObject[]): Record<string, KubernetesObject> =>
  Object.fromEntries(objects.map(object => [`${object.kind} ${object.metadata.name}`, plainObject(object, version)] as const).sort(([a], [b]) => a < b ? -1 : 1))

t.test('helm finds no fault, and renders what the kustomization has with the default values', { skip: missing }, async t => {
  execFileSync(helm ?? '', ['lint', '--strict', chartDir], { stdio: 'pipe' })
  t.strictSame(byName(renderChart(t.testdir(), {})), byName(ofFiles('base/')))
})

t.test('helm renders ingress, KEDA and Redis as the example of the kustomization has them', { skip: missing }, async t => {
  const rendered = renderChart(t.testdir(), { ingress: { enabled: true }, redis: { enabled: true }, worker: { keda: { enabled: true } } })
  const expected = byName(ofFiles('base/', 'components/', 'overlays/example/ingress.yaml'))
  // As the patch of the component says.
  delete (expected['Deployment toolyard-worker']?.['spec'] as Values)['replicas']
  t.strictSame(byName(rendered), expected)
})

t.test('two releases in one namespace have different names, selectors and Redis', { skip: missing }, async t => {
  const all = { redis: { enabled: true }, secret: { create: true, redisUrl: 'redis://a', redisAcl: 'a', apiKeys: '[]' }, ingress: { enabled: true }, worker: { keda: { enabled: true } } }
  const long = `a-${'long-'.repeat(9)}name`
  const [one, two, named] = ['one', 'two', long].map(release => renderChart(t.testdir(), all, release))
  const namesOf = (objects: readonly KubernetesObject[] = []): string[] => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  t.strictSame(namesOf(one).filter(name => namesOf(two).includes(name)), [])
  t.ok(namesOf(one).includes('StatefulSet one-toolyard-redis') && namesOf(one).includes('Service one-toolyard-redis'))
  const set = named?.find(({ kind }) => kind === 'StatefulSet')
  t.ok((set?.metadata.name.length ?? 99) <= 52, 'a label of its pods has room for the name and a hash')
  for (const object of named ?? []) t.strictSame(await faultsOf(object), [], `${object.kind} ${object.metadata.name}`)
  const policy = one?.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'one-toolyard-redis')
  t.match(policy?.['spec'], { ingress: [{ from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/instance': 'one' } } }] }] })
})

t.test('helm puts digests, settings, resources, claims and secrets in their places, and every object is valid', { skip: missing }, async t => {
  const digest = `sha256:${'a'.repeat(64)}`
  const rendered = renderChart(t.testdir(), {
    imagePullSecrets: [{ name: 'pull' }],
    secret: { create: true, name: 'own', redisUrl: 'redis://other:6379', apiKeys: '[]' },
    config: { LOG_LEVEL: 'debug' },
    api: {
      image: { repository: 'r.example.com/api', digest },
      autoscaling: { enabled: false },
      replicas: 3,
      runAsUser: 1001,
      env: [{ name: 'DASHBOARD', value: 'off' }],
      resources: { limits: { cpu: 1 } },
      tolerations: [{ operator: 'Exists' }],
      nodeSelector: { a: 'b' }
    },
    worker: { sandbox: 'off', extraVolumes: [{ name: 'm', configMap: { name: 'm' } }], extraVolumeMounts: [{ name: 'm', mountPath: '/m' }], shutdownGraceSec: 300 },
    storage: { workspace: { existingClaim: 'mine' }, audit: { storageClass: 'nfs', size: '1Gi' } },
    networkPolicy: { denyNamespace: false, outside: false, extraEgress: [{ ports: [{ port: 6380 }] }] },
    podDisruptionBudget: { enabled: false }
  })
  for (const object of rendered) t.strictSame(await faultsOf(object), [], `${object.kind} ${object.metadata.name}`)
  const all = byName(rendered)
  const { replicas, template: { spec: pod } } = all['Deployment toolyard-api']?.['spec'] as { replicas: number, template: { spec: object } }
  t.equal(replicas, 3)
  t.match(pod, { securityContext: { runAsUser: 1001, runAsGroup: 1001 } }, 'apart from the workers, without the files of sessions')
  t.match(pod, {
    nodeSelector: { a: 'b' },
    tolerations: [{ operator: 'Exists' }],
    imagePullSecrets: [{ name: 'pull' }],
    containers: [{ image: `r.example.com/api@${digest}`, resources: { limits: { cpu: 1 } } }],
    volumes: [{ name: 'secrets', secret: { secretName: 'own' } }]
  })
  const worker = JSON.stringify(all['Deployment toolyard-worker'])
  for (const part of ['"value":"off"', '"claimName":"mine"', '"mountPath":"/m"', '"terminationGracePeriodSeconds":320']) t.ok(worker.includes(part), part)
  t.match(all['Secret own'], { stringData: { redis_url: 'redis://other:6379' } })
  t.match(all['PersistentVolumeClaim toolyard-audit'], { spec: { storageClassName: 'nfs' } })
  t.match(all['ConfigMap toolyard'], { data: { LOG_LEVEL: 'debug' } })
  t.ok(JSON.stringify(all['NetworkPolicy toolyard-api']).includes('6380'))
  for (const name of [
    'NetworkPolicy toolyard-nothing', 'NetworkPolicy toolyard-worker-outside', 'PodDisruptionBudget toolyard-api',
    'HorizontalPodAutoscaler toolyard-api', 'PersistentVolumeClaim toolyard-workspace'
  ]) t.notOk(all[name], name)
})
