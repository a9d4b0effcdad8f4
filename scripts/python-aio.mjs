// Writes the asyncio half of the Python client from the other one: `node scripts/python-aio.mjs`, after a change of either source.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const directory = join(import.meta.dirname, '../clients/python/toolyard')
const classes = ['Approvals', 'Files', 'Jobs', 'Secrets', 'Sessions', 'Toolyard']
/** @param {string} source */
const note = source => `# Made of ${source} by scripts/python-aio.mjs.\n`

/** A file's name and its text. */
export const aioFiles = () => [{ source: '_client.py', target: '_aio.py' }, { source: '_secrets.py', target: '_aio_secrets.py' }, { source: '_sessions.py', target: '_aio_sessions.py' }]
  .map(({ source, target }) => ({ file: join(directory, target), text: note(source) + asyncText(readFileSync(join(directory, source), 'utf8')) }))

/** @param {string} text */
function asyncText (text) {
  const [head, ...methods] = text
    .replace(/^from \._patience import Stop\n(from \._secrets import Secrets\nfrom \._sessions import Files, Sessions\n)?/m, (_, /** @type {string | undefined} */ classes) => (
      `${classes === undefined ? '' : 'from ._aio_secrets import AsyncSecrets\nfrom ._aio_sessions import AsyncFiles, AsyncSessions\n'}from ._threads import each_in_thread, in_thread\n`
    ))
    .replace(/import Iterator\b/, 'import AsyncIterator')
    .split(/^(?= {4}def )/m)
  const named = [head, ...methods.map(asyncMethod)].join('')
    .replace(new RegExp(`(class |= |-> |return )(${classes.join('|')})(?=[:(])`, 'g'), '$1Async$2')
  const used = named.includes('each_in_thread(') ? named : named.replace('import each_in_thread, in_thread', 'import in_thread')
  return used.replace('    A client of Toolyard. It keeps', '    As `Toolyard`, for asyncio. A task that is cancelled ends its request; the calls that it made go on.\n\n    It keeps')
}

/**
 * A method, with what follows it up to the next one.
 *
 * @param {string} method
 */
function asyncMethod (method) {
  const gives = /-> Iterator\[/.test(method)
  const made = method
    .replace('-> Iterator[', '-> AsyncIterator[')
    .replace(/^( +)(return )?(.*)Stop\(\)(.*)$/m, (/** @type {string[]} */ ...[, indent, back = '', before, after]) => {
      const work = `lambda stop: ${before}stop${after}`
      return gives ? `${indent}async for each in each_in_thread(${work}):\n${indent}    yield each` : `${indent}${back}await in_thread(${work})`
    })
    .replace('return self.jobs.', 'return await self.jobs.')
  return /\bawait |\basync for /.test(made) ? made.replace('    def ', '    async def ') : made
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const { file, text } of aioFiles()) writeFileSync(file, text)
