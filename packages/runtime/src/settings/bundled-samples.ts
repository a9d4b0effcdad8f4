import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where a file or directory of the bundled samples is, whether they lie in a checkout or were installed. */
export function bundledSamples (path: string): string {
  return join(dirname(fileURLToPath(import.meta.resolve('@toolyard/samples/package.json'))), path)
}
