import type { Tool } from '@toolyard/manifests'
import type { ExecutorOptions } from '@toolyard/executors'
import type { Settings } from '@toolyard/runtime'
import type { JobTypeTable } from '@toolyard/store'

/** Tools as processes of them are kept ready: with what was switched of their job types. */
export function warmTools (tools: readonly Tool[], jobTypes: Pick<JobTypeTable, 'get'>): Tool[] {
  return tools.map(tool => {
    const { enabled = tool.enabled, warm = tool.warm } = jobTypes.get(tool.jobType)
    return { ...tool, enabled, ...(warm === undefined ? {} : { warm }) }
  })
}

const mebibyte = 2 ** 20

export function keptLimits (
  { WARM_MAX_MB: warmMb, WARM_MAX_IDLE_SEC: idleSec, BOX_STOCK_MB: stockMb }: Pick<Settings, 'WARM_MAX_MB' | 'WARM_MAX_IDLE_SEC' | 'BOX_STOCK_MB'>
): Pick<ExecutorOptions, 'warm' | 'stock'> {
  return {
    ...warmMb > 0 && { warm: { maxBytes: warmMb * mebibyte, maxIdleMs: idleSec * 1_000 } },
    ...stockMb > 0 && { stock: { maxBytes: stockMb * mebibyte } }
  }
}
