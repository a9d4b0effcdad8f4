/**
 * The kinds of tests, with the directories below `test/` that are of each. `npm test` runs the first three, those that
 * take longest first.
 */
export const kinds: Record<string, readonly string[]> = {
  /** A service, its command line or tools as processes of their own. */
  e2e: [
    'jobs', 'streams', 'mcp', 'callbacks', 'workflow', 'e2e', 'cli', 'python', 'skill', 'executors', 'builtin', 'sandbox', 'samples', 'queue', 'client', 'examples',
    'traces', 'warm'
  ],
  /** Requests into the API by `inject`, with a real Redis. */
  http: ['http'],
  /** Functions and modules; no process. */
  unit: ['manifests', 'runtime', 'runner', 'deploy', 'console', 'bench'],
  /** The repository itself; a part of `npm run check`. */
  guards: ['repo'],
  /** Killed processes, outages and attacks. */
  faults: ['faults'],
  /** Many calls, and bounds that are measured. */
  load: ['load', 'event-loop'],
  /** What is published, packed and installed, and what readers of the pages do. */
  package: ['package', 'pages'],
  /** Pages, in a browser or as it would read them. */
  browser: ['dashboard', 'browser']
}

/** What `npm test` runs. */
export const dailyKinds = ['e2e', 'http', 'unit']
