import type { BackendKind } from '@toolyard/queue'

/** What the tests run jobs with: `npm test -- backend` runs some of them with BullMQ's own scripts and loop. */
export const queueBackend: BackendKind = process.env['QUEUE_BACKEND'] === 'bullmq' ? 'bullmq' : 'fast'

/** For a test of what only `fast` does, and promises to nobody. */
export const fastOnly: { skip?: string } = queueBackend === 'fast' ? {} : { skip: 'the speed of `fast`' }
