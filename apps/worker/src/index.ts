export { runWorker } from './run.ts'
