/** Runs command lines against addresses, one after the other, and writes of each how it ended and what it printed. */
import { writeSync } from 'node:fs'
import { main } from 'toolyard'

const [urls, lines] = JSON.parse(process.argv[2] ?? '') as [string[], string[][]]
let printed = ''
for (const stream of [process.stdout, process.stderr]) {
  stream.write = (text: string | Uint8Array): boolean => {
    printed += String(text)
    return true
  }
}
for (const [url, args] of urls.flatMap(url => lines.map((args): [string, string[]] => [url, args]))) {
  process.env['TOOLYARD_URL'] = url
  printed = ''
  let status: number | string
  try {
    status = await main(args)
  } catch (error) {
    status = String(error)
  }
  writeSync(1, `${JSON.stringify({ url, args, status, printed })}\n`)
}
process.exit()
