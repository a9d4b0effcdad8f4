/** Logs one line in the way of every process of Toolyard. */
import { createLogger, openLogOutput } from '@toolyard/runtime'

createLogger('api', 'info', await openLogOutput()).info({ port: 1 }, 'listening \u001b[2J')
