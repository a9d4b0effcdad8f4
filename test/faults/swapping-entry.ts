import { mkdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

/* Puts a directory and a link to `target` in each other's place below `place`, without end. */

const [place = '', target = ''] = process.argv.slice(2)

function anyway (step: () => void): void {
  try {
    step()
  } catch {
    // The file is removed meanwhile.
  }
}

for (let n = 0; ; n++) {
  anyway(() => { mkdirSync(join(place, 'entry')) })
  anyway(() => { symlinkSync(target, join(place, 'link')) })
  anyway(() => { renameSync(join(place, 'entry'), join(place, 'aside')) })
  anyway(() => { renameSync(join(place, 'link'), join(place, 'entry')) })
  anyway(() => { unlinkSync(join(place, 'entry')) })
  anyway(() => { renameSync(join(place, 'aside'), join(place, 'entry')) })
  if (n === 0) process.send?.('started')
}
