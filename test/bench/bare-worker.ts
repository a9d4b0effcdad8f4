import { Worker } from 'bullmq'
import { Redis } from 'ioredis'

const connection = new Redis(process.argv[2] ?? '', { maxRetriesPerRequest: null })
const worker = new Worker('bare', async () => ({ content_text: '# A workspace\n' }), { connection, concurrency: 8 })
await worker.waitUntilReady()
process.send?.('ready')
