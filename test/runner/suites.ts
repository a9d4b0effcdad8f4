/**
 * The suites of tests: the directories below `test/`, or files, that are of each, and how they run. A name after `npm test --`
 * is one of these, a directory or a file. Suites that take longest stand first, because files are started in this order.
 */
export interface Suite {
  paths: readonly string[]
  /** Of the `places` that files under way may take together; a file with all of them runs alone. */
  places: number
  /** For a test that sets no other time, in seconds. */
  timeoutSec: number
  env?: Readonly<Record<string, string>>
  /** Whether its files run as they were compiled, in place of from the bundle. */
  compiled?: boolean
}

/** How many places there are. */
export const places = 3
/** How many files run at a time at most, where the processors are idle. */
export const mostFiles = 5

const usual = { places: 1, timeoutSec: 240 }
const heavy = { places: 1, timeoutSec: 600 }

export const suites: Readonly<Record<string, Suite>> = {
  /** Killed processes, outages and attacks. */
  faults: { ...heavy, paths: ['faults'] },
  /** Boxes, and attacks that run commands, with tools that are kept ready before they are called. */
  warm: {
    ...heavy,
    paths: ['sandbox/permissions', 'sandbox/secrets', 'sandbox/kernel-files', 'sandbox/limits', 'sandbox/sessions',
      'executors/command-run', 'executors/command-error', 'executors/command-start', 'executors/command-end', 'executors/command-output',
      'faults/set-id', 'faults/streams-of-a-call', 'faults/planted', 'faults/tampered', 'faults/escape', 'faults/inside-hidden',
      'faults/session-escape'],
    env: { TOOLYARD_TEST_WARM: '1' }
  },
  /** Published parts, packed and installed. */
  package: { ...usual, paths: ['package'], timeoutSec: 450, compiled: true },
  /** Pages, in a browser or as it would read them. */
  browser: { ...usual, paths: ['dashboard', 'browser'], timeoutSec: 450 },
  /** The API and workers as processes of their own; the command line and the client in short. */
  e2e: { ...usual, paths: ['jobs', 'streams', 'callbacks', 'workflow', 'store', 'queue', 'e2e', 'cli', 'client/calls'] },
  /** Several API processes or workers on one Redis, processes that end and are started again, and a quick bench. */
  processes: { ...usual, paths: ['processes'] },
  /** Tools as processes: each kind of tool, its sandbox, its files, and servers of others that tools come from. */
  tools: { ...usual, paths: ['executors', 'builtin', 'python', 'skill', 'sandbox', 'samples', 'sessions', 'archives', 'upstream', 'warm'] },
  /** Started or connected by others: the `toolyard` command, the clients, MCP clients, the examples, a collector of traces, and
   * what readers of the pages do. */
  clients: { ...usual, paths: ['pages', 'commands', 'client', 'other-clients', 'mcp', 'examples', 'traces'] },
  /** Requests into the API by `inject`, with a real Redis. */
  http: { ...usual, paths: ['http'] },
  /** Functions and modules; no process. */
  unit: { ...usual, paths: ['manifests', 'runtime', 'runner', 'deploy', 'console', 'bench'] },
  /** The repository itself; a part of `npm run check`. */
  guards: { ...usual, paths: ['repo'], compiled: true },
  /** How long one turn of the event loop takes, by the processor time of a process: two files at a time. */
  'event-loop': { paths: ['event-loop'], places: places / 2, timeoutSec: 900 },
  /** Many calls, and bounds that are measured: one file at a time. */
  load: { paths: ['load'], places, timeoutSec: 900, env: { LOAD_CALLS: '1000' } }
}

/** `npm test` runs these: every package, in less than four minutes. */
export const daily = ['e2e', 'http', 'unit']
/** CI runs these. */
export const everything = Object.keys(suites)
