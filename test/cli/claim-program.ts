/** Claims one directory after the other, each at a moment that its siblings were told too, and says which ones it got. */
import { claim } from 'toolyard'

const [files = '', begin = ''] = process.argv.slice(2)
const got: string[] = []
for (const [at, file] of (JSON.parse(files) as string[]).entries()) {
  const moment = Number(begin) + at * 20
  // Sleeping would end at another moment in each process.
  while (Date.now() < moment);
  try {
    claim(file)
    got.push(file)
  } catch (error) {
    if (!(error as Error).message.startsWith('already running')) throw error
  }
}
console.log(JSON.stringify(got))
// Whoever is gone holds nothing.
process.stdin.resume()
