import { exitWithMessage } from '@toolyard/runtime'
import { runWorker } from './run.ts'

runWorker().catch(exitWithMessage)
