import { createExecutors, openAudit } from '@toolyard/executors'
import { connectRedis, EntryLocks } from '@toolyard/store'

/** A process that appends lines to one file of a workspace with `data.write_file`, as a worker would. */
const [workspaceDir = '', name = '', count = '', redisUrl = ''] = process.argv.slice(2)
const redis = connectRedis({ place: { kind: 'server', url: redisUrl } }, 'worker', () => {})
const executors = createExecutors({ workspaceDir, env: {}, maxOutputBytes: 1_024, builtins: { locks: new EntryLocks(redis) }, audit: openAudit({ dir: `${workspaceDir}-audit`, redact: '', secrets: [], onError: () => {} }) })
const tool = { name: 'write', description: '', parameters: {}, jobType: 'data.write_file', enabled: true, idempotent: false, source: { format: 'builtin', file: 'builtin', index: 0 }, run: { kind: 'builtin' } } as const
await Promise.all(Array.from({ length: Number(count) }, async (_, index) => {
  const outcome = await executors.run(tool, { path: 'file', mode: 'append', content: `${name}-${index}\n` }, { jobId: 'job', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
  if (!outcome.ok) throw new Error(outcome.error.message)
}))
await executors.close()
redis.disconnect()
