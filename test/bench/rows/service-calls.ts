import type { Processes } from '../../support/service.ts'
import { testKeys } from '../../support/service.ts'
import { post } from '../http-client.ts'

/** A service's batch route, as the rows call it. */
interface ServiceCalls {
  /** Posts a batch of so many calls, and fails where one of them failed. */
  batch: (calls: number, more?: object) => Promise<string>
}

/** Calls that read a small file: the tool itself costs next to nothing. */
export function serviceCalls ({ api }: Pick<Processes, 'api'>, { name = 'data_file_read', args = { path: 'README.md' } }: { name?: string, args?: object } = {}): ServiceCalls {
  const url = `${api.address}/v1/agent-tools/invoke-batch`
  const bodies = new Map<string, string>()
  return {
    async batch (calls, more = {}) {
      const key = `${calls} ${JSON.stringify(more)}`
      const body = bodies.get(key) ?? JSON.stringify({ calls: Array.from({ length: calls }, (_, index) => ({ call_id: `c${index}`, name, arguments: args })), ...more })
      bodies.set(key, body)
      const answer = await post(url, testKeys.admin, body)
      if (answer.includes('"ok":false')) throw new Error(`a call failed: ${answer.slice(0, 300)}`)
      return answer
    }
  }
}

/** Settings of a service whose worker leaves the queue `parked` alone, and that takes any number of jobs. */
export const parkingEnv = { LOG_LEVEL: 'warn', WORKER_QUEUES: 'default', MAX_JOBS_PER_KEY: '0', MAX_QUEUE_DEPTH: '10000000' } as const

/** Puts jobs into the queue that no worker serves. */
export const parked = { mode: 'async', queue: 'parked' } as const
