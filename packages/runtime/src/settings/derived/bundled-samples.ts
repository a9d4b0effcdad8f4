import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/** Where a file or directory of the bundled samples is, whether they lie in a checkout or were installed. */
export function bundledSamples (path: string): string {
  return join(dirname(require.resolve('@toolyard/samples/package.json')), path)
}

/** For the log of an API or worker. */
export const noManifests = 'TOOL_MANIFESTS names no manifest: there are only the built-in tools'

/** The manifests of the samples, as a value of `TOOL_MANIFESTS`: the default of `toolyard start` and of the commands beside it. */
export function sampleManifests (): string {
  return ['tools.json', 'tool_manifest.json', 'skills'].map(bundledSamples).join(',')
}
