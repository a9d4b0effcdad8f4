import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { repoRoot } from '../repo/source-tree.ts'

export interface KubernetesObject {
  apiVersion: string
  kind: string
  metadata: { name: string, namespace?: string, labels?: Record<string, string> }
  [part: string]: unknown
}

/** One document of a manifest file; `file` is its path below deploy/kubernetes. */
export interface Manifest {
  file: string
  object: KubernetesObject
}

const root = join(repoRoot, 'deploy/kubernetes')

export function manifestFiles (): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
    .map(entry => relative(root, join(entry.parentPath, entry.name))).sort()
}

/** Every document of every manifest file. */
export function readManifests (): Manifest[] {
  return manifestFiles().filter(file => file.endsWith('.yaml')).flatMap(file => {
    const documents = parseAllDocuments(readFileSync(join(root, file), 'utf8'))
    if (!Array.isArray(documents)) return []
    return documents.map(document => {
      const [error] = document.errors
      if (error !== undefined) throw new Error(`${file}: ${error.message}`)
      return { file, object: document.toJS() as KubernetesObject }
    })
  })
}

type Validate = ((data: unknown) => boolean) & { errors?: Array<{ instancePath: string, keyword: string, params: object }> | null }

/** The package exports its classes alone; these change what they validate, and its compiled schemas don't. */
const schemas = new URL('_schemas/', import.meta.resolve('kubernetes-models'))

/** The names of the schemas of Kubernetes' own API groups begin with these. */
const groups: Record<string, string> = {
  v1: 'IoK8sApiCoreV1',
  'apps/v1': 'IoK8sApiAppsV1',
  'autoscaling/v2': 'IoK8sApiAutoscalingV2',
  'policy/v1': 'IoK8sApiPolicyV1',
  'networking.k8s.io/v1': 'IoK8sApiNetworkingV1'
}

/** Faults of an object by its schema, unknown fields included; a line each. */
export async function faultsOf (object: KubernetesObject): Promise<string[]> {
  const unread = new Set<string>()
  const errors = await validationOf(object)(watched(object, '', unread))
  return [...errors, ...[...unread].map(path => `${path} is no field`)]
}

function validationOf ({ apiVersion, kind }: KubernetesObject): (data: unknown) => Promise<string[]> {
  const group = groups[apiVersion]
  if (apiVersion === 'keda.sh/v1alpha1' && kind === 'ScaledObject') return async data => await scaledObjectErrors(data)
  if (group === undefined) return async () => [`no schema for ${apiVersion}`]
  return async data => {
    const { validate } = await import(new URL(`${group}${kind}.mjs`, schemas).href) as { validate: Validate }
    validate(data)
    return (validate.errors ?? []).map(({ instancePath, keyword, params }) => `${instancePath} ${keyword} ${JSON.stringify(params)}`)
  }
}

async function scaledObjectErrors (data: unknown): Promise<string[]> {
  const { ScaledObject } = await import('@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject')
  try {
    new ScaledObject(data as ConstructorParameters<typeof ScaledObject>[0]).validate()
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

/**
 * The same value, except that `unread` holds the paths that nobody has asked for yet: the compiled schemas ask for the
 * fields that they know, so that those which are left are unknown.
 */
function watched (value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const children = new Map(Object.entries(value).map(([name, child]) => {
    unread.add(`${path}/${name}`)
    return [name, watched(child, `${path}/${name}`, unread)] as const
  }))
  return new Proxy(value, {
    get (target, name) {
      if (typeof name === 'string') unread.delete(`${path}/${name}`)
      return typeof name === 'string' && children.has(name) ? children.get(name) : Reflect.get(target, name) as unknown
    }
  })
}
