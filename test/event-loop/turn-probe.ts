import { writeFileSync } from 'node:fs'

/*
 * Loaded into a process of the service by `--import`: watches the turns of its event loop, as `longest-turn.ts` does. At
 * SIGUSR2 it writes the longest one since the last signal, in milliseconds, into the file that TURN_FILE names.
 */
let longest = 0
let used = process.cpuUsage()
let clock = performance.now()

function turn (): void {
  const { user, system } = process.cpuUsage(used)
  longest = Math.max(longest, Math.min((user + system) / 1_000, performance.now() - clock))
  used = process.cpuUsage()
  clock = performance.now()
  setImmediate(turn)
}

process.on('SIGUSR2', () => {
  writeFileSync(`${process.env['TURN_FILE']}.${process.pid}`, String(longest))
  longest = 0
})
turn()
