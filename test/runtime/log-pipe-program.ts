/**
 * Logs as many lines as it is told, with as many characters in each, and says on stderr that it came to its end. Then it
 * ends: at once, or with its stdin.
 */
import { createLogger } from '@toolyard/runtime'
import { once } from 'node:events'

const [, , lines = '0', chars = '0', stays] = process.argv
const logger = createLogger('api', 'info')
for (let line = 0; line < Number(lines); line++) logger.info({ line, pad: 'x'.repeat(Number(chars)) }, 'line')
console.error('logged')
if (stays === 'stays') await once(process.stdin.resume(), 'end')
