import { calls, coldCalls } from './rows/calls.ts'
import { catalogue } from './rows/catalogue.ts'
import { depth } from './rows/depth.ts'
import { fairness } from './rows/fairness.ts'
import { heldCalls } from './rows/held-calls.ts'
import type { Stage } from './frame/row.ts'
import { manyTools } from './rows/many-tools.ts'
import { networks } from './rows/networks.ts'
import { processes } from './rows/processes.ts'
import { python } from './rows/python.ts'
import { redisBytes } from './rows/redis-bytes.ts'
import { replicas } from './rows/replicas.ts'
import { scale } from './rows/scale.ts'
import { search } from './rows/search.ts'
import { sessions } from './rows/sessions.ts'
import { start } from './rows/start.ts'
import { streams } from './rows/streams.ts'
import { traced } from './rows/traced.ts'
import { waiters } from './rows/waiters.ts'
import { warm } from './rows/warm.ts'

/** All rows, in the order of the table. */
export const stages: Record<string, Stage> = {
  calls,
  'cold-calls': coldCalls,
  waiters,
  traced,
  'held-calls': heldCalls,
  'depth-100k': depth('depth-100k', 100_000, false),
  'redis-bytes': redisBytes,
  processes,
  networks,
  warm,
  python,
  tools: manyTools,
  catalogue,
  sessions,
  start,
  'depth-1m': depth('depth-1m', 1_000_000, true),
  replicas,
  fairness,
  search,
  streams,
  scale
}
