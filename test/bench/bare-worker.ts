import { Worker } from 'bullmq'
import { Redis } from 'ioredis'

const connection = new Redis(process.argv[2] ?? '', { maxRetriesPerRequest: null })
const textOf = (bytes: number | undefined): string => bytes === undefined ? '# A workspace\n' : 'x'.repeat(bytes)
const worker = new Worker<{ bytes?: number }>('bare', async ({ data }) => ({ content_text: textOf(data.bytes) }), { connection, concurrency: 8 })
await worker.waitUntilReady()
process.send?.('ready')
