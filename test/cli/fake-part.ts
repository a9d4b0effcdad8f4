import { appendFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { settingWarnings } from '@toolyard/runtime'

/**
 * Stands in for the HTTP service or the worker: says that it is ready, notes in `events` in the working directory what
 * happens to it, and behaves as the environment variable `FAKE_API` or `FAKE_WORKER` says.
 */
export function runFakePart (name: 'api' | 'worker'): void {
  const behaviour = process.env[`FAKE_${name.toUpperCase()}`]
  if (behaviour === 'fails') {
    console.log(JSON.stringify({ level: 30, msg: 'reading the settings' }))
    console.log(JSON.stringify({ level: 60, msg: 'no way to start', err: { message: 'the disk is full' } }))
    process.exit(3)
  }
  const keptAlive = createServer().listen(0, '127.0.0.1')
  const leave = (reason: string): void => {
    if (behaviour === 'stubborn' && reason === 'SIGTERM') return
    const socket = connect((process.env['REDIS_URL'] ?? '').slice('unix:'.length))
    const end = (redis: string): void => {
      note(`${name} left by ${reason} while redis was ${redis}`)
      keptAlive.close()
      process.exit(0)
    }
    socket.once('connect', () => { end('up') })
    socket.once('error', () => { end('down') })
  }
  process.once('SIGTERM', () => { leave('SIGTERM') })
  process.once('disconnect', () => { leave('disconnect') })
  console.log(JSON.stringify({ level: 30, msg: 'a quiet line' }))
  for (const warning of settingWarnings(process.env)) console.log(JSON.stringify({ level: 40, msg: warning }))
  // Before it is ready: who waits for that looks for it.
  if ((process.env['METRICS_PORT'] ?? '') !== '') note(`${name} metrics ${process.env['METRICS_PORT']}`)
  const ready = (): void => {
    process.send?.({ ready: true, ...facts[name] })
    note(`${name} ready ${process.pid}`)
  }
  if (behaviour === 'talks') {
    for (let line = 1; line <= 25; line++) console.log(JSON.stringify({ level: 40, msg: `warning ${line}` }))
    setTimeout(ready, 1_000)
  } else if (behaviour === 'waits') process.send?.({ waiting: "Redis can't be reached" })
  else ready()
  if (behaviour === 'finds') console.log(JSON.stringify({ level: 50, msg: 'manifest bad.json: there is no such file' }))
  if (behaviour === 'warns') console.log(JSON.stringify({ level: 40, msg: 'low on memory', err: { message: '3 MB left' } }))
}

/** By the real ones themselves. */
const facts = {
  api: { address: 'http://127.0.0.1:65000', tools: { count: 12, manifests: 2, ...process.env['FAKE_TOOL'] !== undefined && { callable: process.env['FAKE_TOOL'] }, faulty: 1 } },
  worker: { sandbox: process.env['FAKE_GROUPS'] === 'none' ? { level: 'full', missing: ['cgroup'] } : { level: 'partial', missing: ['limits'] } }
}

function note (event: string): void {
  appendFileSync('events', `${event}\n`)
}
