export { bufferOf, movable, ThreadError, Threads, type ThreadAnswer, type ThreadOptions, type ThreadsOptions, type ThreadWork } from './threads.ts'
export { serveThread } from './serve-thread.ts'
export { steadyMs } from './steady-ms.ts'
