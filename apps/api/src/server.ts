import { exitWithMessage } from '@toolyard/runtime'
import { runApi } from './run.ts'

runApi().catch(exitWithMessage)
