import type { Tool } from '@toolyard/manifests'
import type { JobTypeTable } from '@toolyard/store'

/** Tools as processes of them are kept ready: with what was switched of their job types. */
export function warmTools (tools: readonly Tool[], jobTypes: Pick<JobTypeTable, 'get'>): Tool[] {
  return tools.map(tool => {
    const { enabled = tool.enabled, warm = tool.warm } = jobTypes.get(tool.jobType)
    return { ...tool, enabled, ...(warm === undefined ? {} : { warm }) }
  })
}
