/** Logs many lines, then removes the file that it was given, and logs a few more. Says on stderr that it came to its end. */
import { createLogger } from '@toolyard/runtime'
import { rmSync } from 'node:fs'

const logger = createLogger('api', 'info')
for (let count = 0; count < 100; count++) logger.info({ pad: 'x'.repeat(100) }, 'before')
const [, , full] = process.argv
if (full !== undefined) rmSync(full)
for (let count = 0; count < 3; count++) logger.info('after')
console.error('logged')
