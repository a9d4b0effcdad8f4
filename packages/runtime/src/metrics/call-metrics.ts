import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { boundedLabel } from './metrics.ts'

/** Seconds: from a call of a built-in tool to one of an hour. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600]

export interface CallMetrics {
  /** A call was answered: `ok`, `accepted`, `pending`, or the code of its error. `tool` is undefined for an unknown one. */
  answered: (tool: string | undefined, outcome: string) => void
  /** A request ended; `route` is the pattern. */
  requested: (request: { method: string, route: string, status: number, seconds: number }) => void
}

export function createCallMetrics (registry: Registry): CallMetrics {
  const registers = [registry]
  const calls = new Counter({ name: 'toolyard_calls_total', help: 'Answers to calls: ok, accepted (async), pending, or the code of the error.', labelNames: ['tool', 'outcome'], registers })
  const requests = new Histogram({ name: 'toolyard_http_request_duration_seconds', help: 'Time from a request to the end of its answer.', labelNames: ['method', 'route', 'status'], buckets, registers })
  const toolLabel = boundedLabel()
  return {
    answered: (tool, outcome) => { calls.inc({ tool: toolLabel(tool), outcome }) },
    requested: ({ method, route, status, seconds }) => { requests.observe({ method, route, status: String(status) }, seconds) }
  }
}

export interface EndedJob {
  tool: string
  /** Whose it was; undefined for an operator's. A tenant is of a key, never what a caller made up. */
  tenant: string | undefined
  queue: string
  /** `succeeded`, `failed`, `cancelled` or `requeued`. */
  state: string
  /** The code of the error, or empty. */
  code: string
  /** Seconds between being due and being taken; undefined for a later attempt. */
  waitedSec: number | undefined
  /** Seconds between being taken and the end. */
  ranSec: number
}

export interface JobMetrics {
  taken: () => void
  ended: (job: EndedJob) => void
}

export function createJobMetrics (registry: Registry, concurrency: number): JobMetrics {
  const registers = [registry]
  const jobs = new Counter({ name: 'toolyard_jobs_total', help: 'Runs of jobs by how they ended.', labelNames: ['tool', 'state', 'code'], registers })
  const tenantRuns = new Counter({
    name: 'toolyard_tenant_runs_total', help: 'Runs of jobs of tenants by how they ended.', labelNames: ['tenant', 'state'], registers
  })
  const tenantTime = new Counter({
    name: 'toolyard_tenant_run_seconds_total', help: 'Time that runs of jobs of tenants took.', labelNames: ['tenant'], registers
  })
  const waiting = new Histogram({ name: 'toolyard_job_wait_seconds', help: 'Time from when a job was due until a worker took it.', labelNames: ['queue'], buckets, registers })
  const running = new Histogram({ name: 'toolyard_job_run_seconds', help: 'Time that a run of a job took.', labelNames: ['tool'], buckets, registers })
  const total = new Histogram({ name: 'toolyard_job_total_seconds', help: 'Time from when a job was due until its run ended.', labelNames: ['queue'], buckets, registers })
  const now = new Gauge({ name: 'toolyard_jobs_running', help: 'Jobs that this worker runs now.', registers })
  new Gauge({ name: 'toolyard_worker_concurrency', help: 'WORKER_TOTAL_CONCURRENCY, or WORKER_CONCURRENCY where that is unset.', registers }).set(concurrency)
  const toolLabel = boundedLabel()
  const queueLabel = boundedLabel()
  const tenantLabel = boundedLabel()
  return {
    taken: () => { now.inc() },
    ended: job => {
      now.dec()
      const [tool, queue] = [toolLabel(job.tool), queueLabel(job.queue)]
      jobs.inc({ tool, state: job.state, code: job.code })
      running.observe({ tool }, job.ranSec)
      if (job.tenant !== undefined) {
        const tenant = tenantLabel(job.tenant)
        tenantRuns.inc({ tenant, state: job.state })
        tenantTime.inc({ tenant }, job.ranSec)
      }
      if (job.waitedSec === undefined) return
      waiting.observe({ queue }, job.waitedSec)
      total.observe({ queue }, job.waitedSec + job.ranSec)
    }
  }
}
