import type { Approvals, JobCanceller, JobLogs, JobReader, JobWatch } from '@toolyard/queue'
import type { McpSessions } from '@toolyard/store'
import type { ToolCatalog } from '../../catalog/tool-catalog.ts'
import type { ReturnedImages } from '../../files/returned-images.ts'
import type { Answerer } from '../../invocation/answerer.ts'
import type { ToolInvoker } from '../../invocation/batch/tool-invoker.ts'
import type { OpenRequests } from '../asking/open-requests.ts'
import type { ToolLists } from './tool-list.ts'

/** For requests of all clients. */
export interface McpParts {
  catalog: ToolCatalog
  invoker: ToolInvoker
  jobs: JobReader
  canceller: JobCanceller
  approvals: Approvals
  logs: JobLogs
  watch: JobWatch
  images: ReturnedImages
  /** How long a finished job is kept, in seconds. */
  retentionSec: number
  sessions: McpSessions
  /** Whether every call must name a session: without one nothing of the workspace is seen. */
  sessionsRequired: boolean
  lists: ToolLists
  /** The calls of clients of 2025 that this process answers: what cancels them. */
  calls: OpenRequests
  /** For clients of 2025. */
  questions: OpenRequests<unknown>
  answerer: Answerer
  /** Aborted when requests that still wait must be answered with what is there. */
  ending: AbortSignal
}
