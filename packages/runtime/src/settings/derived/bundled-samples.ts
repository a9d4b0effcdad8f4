import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/** Where a file or directory of the bundled samples is, whether they lie in a checkout or were installed. */
export function bundledSamples (path: string): string {
  return join(dirname(require.resolve('@toolyard/samples/package.json')), path)
}
