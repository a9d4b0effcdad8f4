/**
 * The kinds of tests, with the directories below `test/`, or files, that are of each. `npm test` runs `dailyKinds`, those that take
 * longest first. `npm run test:all` adds those that need most processes.
 */
export const kinds: Record<string, readonly string[]> = {
  /** The API and workers as processes of their own; the command line and the client in short. */
  e2e: ['jobs', 'streams', 'callbacks', 'workflow', 'store', 'queue', 'e2e', 'cli', 'client/calls'],
  /** Several API processes or workers on one Redis, and processes that end and are started again. */
  processes: ['processes'],
  /** Requests into the API by `inject`, with a real Redis. */
  http: ['http'],
  /** Functions and modules; no process. */
  unit: ['manifests', 'runtime', 'runner', 'deploy', 'console', 'bench'],
  /** Tools as processes: each kind of tool, its sandbox, its files, and servers of others that tools come from. */
  tools: ['executors', 'builtin', 'python', 'skill', 'sandbox', 'samples', 'sessions', 'archives', 'upstream', 'warm'],
  /** What others start or connect: the `toolyard` command, the clients, MCP clients, the examples, a collector of traces. */
  clients: ['commands', 'client', 'other-clients', 'mcp', 'examples', 'traces'],
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
