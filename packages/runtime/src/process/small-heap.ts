import { setFlagsFromString } from 'node:v8'

/** V8's own. */
const growthFactor = 2

/**
 * Keeps the heap's part for new objects small while a program loads. Loading leaves much garbage and little work to
 * speed up, and V8 never gives back what the heap has grown by: some 20 MB of an idle process. Under load it grows as ever.
 */
export async function withSmallHeap<T> (load: () => Promise<T>): Promise<T> {
  setFlagsFromString('--semi-space-growth-factor=1')
  try {
    return await load()
  } finally {
    setFlagsFromString(`--semi-space-growth-factor=${growthFactor}`)
  }
}
