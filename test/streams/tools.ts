/** A program that talks on stderr while it runs, and its manifest entry. */
export const chatterFiles = {
  'tools/bin/chatter': `#!/usr/bin/env node
let text = ''
process.stdin.on('data', chunk => { text += chunk })
process.stdin.on('end', async () => {
  const { lines = 0, everyMs = 0, pad = 0, say, output = 'done', stopAt } = JSON.parse(text || '{}')
  const { existsSync } = require('node:fs')
  const wait = ms => new Promise(resolve => setTimeout(resolve, ms))
  if (say !== undefined) process.stderr.write(say + '\\n')
  for (let index = 0; index < lines; index++) {
    process.stderr.write('line ' + index + ' ' + 'x'.repeat(pad) + '\\n')
    if (everyMs > 0) await wait(everyMs)
  }
  // Goes on until the test says so.
  while (stopAt !== undefined && !existsSync(stopAt)) await wait(20)
  process.stdout.write(JSON.stringify(output))
})
`
}

export const chatterEntry = { name: 'chatter', schema: { type: 'object' }, command: ['./tools/bin/chatter'], timeoutSec: 60 }

/** The messages of the lines that `chatter` writes. */
export function chatterLines (from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `line ${from + index}`)
}
