/**
 * The kinds of tests, with the directories below `test/` that are of each. `npm test` runs the first three, those that
 * take longest first.
 */
export const kinds: Record<string, readonly string[]> = {
  /** A service, its command line or tools as processes of their own. */
  e2e: [
    'jobs', 'streams', 'callbacks', 'workflow', 'dashboard', 'e2e', 'cli', 'python', 'skill', 'executors', 'builtin', 'sandbox', 'samples', 'queue'
  ],
  /** Requests into the API by `inject`, with a real Redis. */
  http: [],
  /** Functions and modules, and the repository itself; no process. */
  unit: ['manifests', 'runtime', 'repo', 'runner', 'deploy'],
  /** Killed processes, outages and attacks. */
  faults: ['faults'],
  /** Many calls, and bounds that are measured. */
  load: ['load', 'event-loop'],
  browser: ['browser']
}

/** What `npm test` runs. */
export const dailyKinds = ['e2e', 'http', 'unit']
