import type { SessionView } from '@toolyard/contract'
import { hasPython } from '../../support/python.ts'
import { bundleOf, createService } from '../../support/service.ts'
import { timeOf } from '../frame/measures.ts'
import { ratioAtMost, type Stage } from '../frame/row.ts'
import { p50 } from '../sample.ts'
import { serviceCalls } from './service-calls.ts'

const source = 'from toolyard import Tool\n\nclass Nothing(Tool):\n    def execute(self):\n        return {}\n'
const permissions = ['read_repo', 'write_files']
const yardstick = 'the same call without a session'

/** Calls in a session over HTTP, beside the same calls without one. */
export const sessions: Stage = {
  title: 'Calls in a session, beside calls without one',
  rows: {
    'session-command': { what: 'a command in a session, p50', yardstick, unit: 'ms', target: ratioAtMost(1.1) },
    'session-python': { what: 'a Python tool in a session, p50', yardstick, unit: 'ms', target: ratioAtMost(1.1) }
  },
  open: async ({ cleanup, size }) => {
    const service = await createService(cleanup, {
      env: { LOG_LEVEL: 'warn' },
      files: {
        'bundle/nothing.py': source,
        'bundle/manifest.json': bundleOf({ name: 'python', description: 'Does nothing', module: 'nothing', inputs: {}, permissions })
      },
      tools: [{ name: 'command', schema: { type: 'object' }, command: ['/bin/cat'], permissions }],
      manifests: ['tools.json', ...hasPython() ? ['bundle/manifest.json'] : []]
    })
    const { body: { session: { id } } } = await service.client.request<{ session: SessionView }>('/v1/sessions', { body: {} })
    const measure = async (name: string): Promise<ReturnType<typeof timeOf>> => {
      const { batch } = serviceCalls(service, { name, args: {} })
      const sides = { bare: async () => await batch(1), ours: async () => await batch(1, { session: id }) }
      for (const side of Object.values(sides)) await p50(size(20, 2), side)
      return timeOf(size(22, 3), sides)
    }
    return {
      'session-command': await measure('command'),
      'session-python': hasPython() ? await measure('python') : { unable: 'there is no Python 3' }
    }
  }
}
