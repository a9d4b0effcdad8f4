import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../repo/source-tree.ts'

/** The `sh` blocks below a heading of a page, without their comments. */
export function shellBlocks (page: string, heading: string): string[] {
  const [, section] = readFileSync(join(repoRoot, page), 'utf8').split(new RegExp(`^#+ ${heading}$`, 'm'))
  if (section === undefined) throw new Error(`${page} has no heading ${heading}`)
  const [own = ''] = section.split(/^#+ /m)
  return [...own.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block.replaceAll(/\s+#.*$/gm, ''))
}
