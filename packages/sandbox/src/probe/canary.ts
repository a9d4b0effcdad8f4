import { spawn } from 'node:child_process'
import { chmodSync, closeSync, existsSync, fchmodSync, openSync, statSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CanaryTask } from './task.ts'

/*
 * A tool that tries to get out. It runs in a box like any tool, with a CanaryTask as JSON on stdin, and prints what it
 * could reach as a JSON object of layers to sentences; a layer that holds isn't in it. It uses nothing but Node itself:
 * in the box there is nothing else.
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Who started it wrote it.
const task = JSON.parse(readFileSync(0, 'utf8')) as CanaryTask
const reached: Record<string, string> = {}
/** How long files of the service may take to be replaced. */
const replacingMs = 1_000

lookForServiceFiles()
// Whoever reads this replaces them, while the canary goes on.
process.stderr.write(`${task.replaced}\n`)

attempt('files', 'read a secret of another directory', () => readFileSync(task.secret, 'utf8'))
for (const file of task.outside) attempt('writes', `wrote to ${file}`, () => { writeFileSync(file, 'canary') })
attempt('writes', 'opened a switch of the kernel', () => { closeSync(openSync('/proc/sys/kernel/core_pattern', 'r+')) })
attempt('writes', 'opened its input for writing', () => { closeSync(openSync('/proc/self/fd/0', 'r+')) })
attempt('writes', 'changed its input', () => { fchmodSync(0, 0o600) })
for (const name of ['full', 'null', 'random', 'tty', 'urandom', 'zero']) {
  attempt('writes', `changed /dev/${name}`, () => { chmodSync(`/dev/${name}`, statSync(`/dev/${name}`).mode & 0o777) })
}
attempt('system-calls', 'gave a file the rights of its owner', () => {
  writeFileSync('/tmp/canary', '')
  chmodSync('/tmp/canary', 0o4755)
})
const seen = readdirSync('/proc').filter(name => /^\d+$/.test(name))
if (seen.length > task.maxProcesses) reached['processes'] = `saw ${seen.length} processes`
if (await connects({ host: '127.0.0.1', port: task.tcpPort })) reached['network'] = 'reached a TCP port of the machine'
for (const path of task.sockets) {
  if (await connects({ path })) reached['sockets'] = 'reached a Unix socket of the machine'
}
const status = readFileSync('/proc/self/status', 'utf8')
if (!/^Seccomp:\s+2$/m.test(status)) reached['system-calls'] = 'no seccomp filter is in force'
if (!/^CapBnd:\s+0+$/m.test(status)) reached['system-calls'] = 'capabilities are left'
if (!/^Max core file size\s+0\s/m.test(readFileSync('/proc/self/limits', 'utf8'))) reached['limits'] = 'no resource limits are in force'
spawn('/bin/sleep', [task.sleepSeconds], { detached: true, stdio: 'inherit' }).on('error', () => {}).unref()
for (let tries = 0; tries < replacingMs && !existsSync(task.replaced); tries++) await sleep(1)
lookForServiceFiles()
process.stdout.write(JSON.stringify(reached))

function attempt (layer: string, sentence: string, action: () => unknown): void {
  try {
    action()
    reached[layer] = sentence
  } catch {
    // As it should be.
  }
}

function lookForServiceFiles (): void {
  for (const entry of readdirSync(task.tools, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    attempt('files', `read ${path}, a file of the service among programs`, () => {
      if (!readFileSync(path, 'utf8').includes(task.text)) throw new Error('a file of the tools')
    })
  }
  for (const { path, id } of task.service) {
    attempt('files', `saw ${path}, which is the service's`, () => {
      const { dev, ino } = statSync(path, { bigint: true })
      if (`${dev}:${ino}` !== id) throw new Error('something else')
    })
  }
}

async function connects (address: { host: string, port: number } | { path: string }): Promise<boolean> {
  return await new Promise(resolve => {
    try {
      const socket = createConnection(address)
      const settle = (connected: boolean): void => {
        socket.destroy()
        resolve(connected)
      }
      socket.once('connect', () => { settle(true) }).once('error', () => { settle(false) })
      setTimeout(settle, 1_000, false).unref()
    } catch {
      resolve(false)
    }
  })
}
