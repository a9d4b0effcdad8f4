import { readDependsOn, type JobDependency, type JobRequest } from '@toolyard/contract'
import type { Tool } from '@toolyard/manifests'
import type { JobReader } from '@toolyard/queue'
import { jobIdPattern } from '@toolyard/store'
import { scopeOf, type Principal } from '../access/principal.ts'

const field = 'depends_on'

/**
 * Takes `depends_on` out of a job's input, where it is no parameter of the tool.
 *
 * @returns the tool's arguments, and the ids that were sent in either place, each once.
 * @throws HttpError `VALIDATION_ERROR`
 */
export function splitDependencies (
  { input, dependsOn }: JobRequest, tool: Tool | undefined
): { input: Record<string, unknown>, dependsOn: string[] } {
  const properties = tool?.parameters['properties']
  const isParameter = typeof properties === 'object' && properties !== null && Object.hasOwn(properties, field)
  if (isParameter || !Object.hasOwn(input, field)) return { input, dependsOn: [...new Set(dependsOn)] }
  const { [field]: ids, ...rest } = input
  return { input: rest, dependsOn: [...new Set([...dependsOn, ...readDependsOn(ids)])] }
}

/**
 * Finds the queues of the jobs that a job depends on. One that the key may not see is as missing as one that isn't there.
 *
 * @throws RedisUnavailableError
 */
export async function findDependencies (jobs: JobReader, ids: readonly string[], principal: Principal): Promise<JobDependency[]> {
  return await Promise.all(ids.map(async id => {
    const queue = jobIdPattern.test(id) ? await jobs.queueOf(id, scopeOf(principal)) : undefined
    return queue === undefined ? { id } : { id, queue }
  }))
}
