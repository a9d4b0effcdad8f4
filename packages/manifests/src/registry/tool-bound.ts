import { isRecord } from '@toolyard/contract/terms'
import { ManifestFault } from '../finding/finding.ts'
import type { Layer } from '../layer/layer.ts'
import { manifestLimits } from '../tool/limits.ts'

const bound = `and all manifests together may have ${manifestLimits.tools}`
const fix = 'Leave out what nobody calls, or run a second service for it.'

/** @throws ManifestFault for a manifest with more entries than a service may have tools, before any of them is read. */
export function refuseLong (manifest: unknown): void {
  const tools = isRecord(manifest) ? manifest['tools'] : undefined
  if (!Array.isArray(tools) || tools.length <= manifestLimits.tools) return
  throw new ManifestFault('catalogue/tools', `has ${tools.length} tools, ${bound}: none of it is served`, { fix })
}

/** A layer with more tools than there is room for is refused as a whole: which of them are served would be chance. */
export function refuseTooMany (layers: readonly Layer[]): Layer[] {
  let room: number = manifestLimits.tools
  return layers.map(layer => {
    const count = layer.entries.length
    if (count <= room) {
      room -= count
      return layer
    }
    const file = layer.files?.[0] ?? ''
    const message = `has ${count} tools, ${bound}, of which ${room} are left: none of it is served`
    return { entries: [], findings: [{ severity: 'error', whole: true, file, rule: 'catalogue/tools', message, fix }], files: layer.files ?? [] }
  })
}
