import { createInterface } from 'node:readline/promises'

/** Whether somebody at a terminal can be asked. */
export function hasTerminal (): boolean {
  return process.stdin.isTTY && process.stdout.isTTY
}

/** Whether somebody at a terminal agrees; without a terminal nobody does. */
export async function agrees (question: string): Promise<boolean> {
  if (!hasTerminal()) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}
