import { writeFileSync } from 'node:fs'
import { longer, noTurn, nextTurn, turnMeter } from './turn.ts'

/*
 * Loaded into a process of the service by `--import`: watches the turns of its event loop. At SIGUSR2 it writes the longest
 * one since the last signal into the file that TURN_FILE names.
 */
const meter = turnMeter()
let longest = noTurn

function turn (): void {
  longest = longer(longest, meter())
  nextTurn(turn).unref()
}

process.on('SIGUSR2', () => {
  writeFileSync(`${process.env['TURN_FILE']}.${process.pid}`, JSON.stringify(longest))
  longest = noTurn
})
turn()
