import fc from 'fast-check'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createLogger, printable } from '@toolyard/runtime'
import { prettyLines } from '@toolyard/runtime/pretty-log'
import t from 'tap'
import { anyCharacter } from '../support/any-character.ts'

/** Sets the title, clears the screen, and the same with the one character that begins such a sequence in eight bits. */
const hostile = 'x\u001b]0;title\u0007\u001b[2J\u009b2J\r\u007f\u202e\b\f\\u001by'
// eslint-disable-next-line no-control-regex -- control characters and marks of direction, which a terminal would obey
const commands = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

function logged (log: (logger: ReturnType<typeof createLogger>) => void): string {
  let lines = ''
  log(createLogger('worker', 'debug', { write: line => { lines += line } }))
  return lines
}

t.test('a line of the log is readable, with its time, level, part, message and fields', async t => {
  const line = prettyLines({ colorize: false })(logged(logger => { logger.info({ jobId: 'a', ms: 7 }, 'job done') }))
  t.match(line, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO \(worker\): job done \{"jobId":"a","ms":7\}$/)
})

t.test('an error is shown with its stack', async t => {
  const line = prettyLines({ colorize: false })(logged(logger => { logger.error({ err: new Error('no luck') }, 'job failed') }))
  t.match(line, /ERROR \(worker\): job failed[^]*no luck[^]*pretty-log\.test/)
})

t.test('the brief form has only warnings and errors, each with its cause', async t => {
  const brief = prettyLines({ colorize: false, brief: true })
  t.equal(brief(logged(logger => { logger.info('all is well') })), undefined)
  t.match(brief(logged(logger => { logger.warn({ err: new Error('3 MB left'), jobId: 'a' }, 'low on memory') })), /^\[[\d:.]+\] WARN \(worker\): low on memory: 3 MB left$/)
  t.equal(brief('{"level":60,"msg":"gone"}', 'api'), 'FATAL (api): gone')
})

t.test('other lines stay as they are, after the name of the part', async t => {
  const readable = prettyLines({ colorize: false })
  for (const line of ['    at run (file.js:1:2)', '{"a":1}', '{broken', '[1]', '']) {
    t.equal(readable(line), line)
    t.equal(readable(`${line}\n`, 'api'), `api: ${line}`)
  }
})

t.test('no text in the log acts as a command of the terminal', async t => {
  const readable = prettyLines({ colorize: false })
  const line = readable(logged(logger => { logger.warn({ err: new Error(hostile), [hostile]: { deep: [hostile] } }, hostile) }))
  t.match(line, '0;title', 'it is told all the same')
  t.notMatch(line, commands)
  await t.resolves(fc.assert(fc.asyncProperty(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), async (text, name) => {
    const shown = readable(logged(logger => { logger.warn({ [`k${name}`]: text, err: new Error(text) }, text) }))
    return shown !== undefined && !commands.test(shown) && !commands.test(readable(printable(text)) ?? '')
  }), { numRuns: 300 }))
})

const program = fileURLToPath(new URL('log-program.js', import.meta.url))
/** It runs a command on a terminal of its own. */
const terminal = spawnSync('script', ['--version']).status === 0

t.test('a log that goes to a terminal is readable', { skip: !terminal && 'the program script is not here' }, async t => {
  const onTerminal = (env: NodeJS.ProcessEnv): string =>
    spawnSync('script', ['-qec', `'${process.execPath}' '${program}'`, '/dev/null'], { env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' }).stdout
  t.match(onTerminal({ TERM: 'dumb', NO_COLOR: '1' }), /^\[[\d:.]+\] INFO \(api\): listening \\u001b\[2J \{"port":1\}\r?\n$/)
  const colored = onTerminal({ TERM: 'xterm-256color' })
  t.match(colored, '\u001b[', 'it has colours')
  t.notMatch(colored, '\u001b[2J', 'they are its own')
})

t.test('a log that goes elsewhere is JSON lines', async t => {
  const { stdout } = spawnSync(process.execPath, [program], { encoding: 'utf8' })
  t.match(JSON.parse(stdout), { level: 30, process: 'api', port: 1, msg: 'listening \u001b[2J' })
})
