import { entries, programs } from '../e2e/tools.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { injectService, type InjectedService } from '../support/injected.ts'
import type { OpenApiDocument } from '../support/openapi.ts'
import { makeKeys, type ServiceOptions } from '../support/service.ts'

const { API_KEYS_JSON } = makeKeys({ read: { permissions: ['read_repo'] } })
const manifest = {
  schema_version: '1.0',
  metadata: { name: 'test', description: 'A bundle of a test' },
  tools: [{ name: 'sizes', description: 'Measures.', module: 'mods.sizes', strict_outputs: true, outputs: { bytes: { type: 'integer' } } }]
}
const options: ServiceOptions = {
  workers: 0,
  files: {
    ...programs,
    'bundle/mods/sizes.py': 'from toolyard import Tool\n\nclass Sizes(Tool):\n    def execute(self):\n        return {"bytes": 1}\n',
    'bundle/manifest.json': JSON.stringify(manifest)
  },
  tools: [
    ...entries,
    { name: 'fetcher', description: 'Fetches', schema: { type: 'object' }, command: ['./tools/bin/echo'], permissions: ['network'] }
  ],
  manifests: ['tools.json', 'bundle/manifest.json'],
  env: {
    TOOL_DEFAULT_PERMISSIONS: 'read_repo',
    API_KEYS_JSON
  }
}

/** A service with tools of each kind, and how its document is read. */
interface OpenApiService extends InjectedService {
  read: (path?: string, options?: Parameters<InjectedService['client']['request']>[1]) => Promise<OpenApiDocument>
}

/** Opens it, without a worker. */
export async function openApiService (t: Cleanup): Promise<OpenApiService> {
  const service = await injectService(t, options)
  const read: OpenApiService['read'] = async (path = '/openapi.json', options = {}) => {
    const { status, body, text } = await service.client.request<OpenApiDocument>(path, options)
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`)
    return body
  }
  return { ...service, read }
}
