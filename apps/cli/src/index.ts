export { main } from './main.ts'
export { runStart, type StartOptions } from './start/run-start.ts'
export type { Entries } from './start/services.ts'
export type { Backoff } from './supervision/supervisor.ts'
