import { nearName } from '@toolyard/contract/terms'
import type { Remark } from '../tools/execution-check.ts'

/** Keys of a front matter that are looked at. */
const most = 100

/** Requirements of a front matter that stand where nobody reads them, so that they hold nothing back. */
export function unreadRequirements (frontMatter: unknown): Remark[] {
  const { metadata, requires } = fieldsOf(frontMatter)
  const own = fieldsOf(metadata)
  return [
    ...isMap(requires) ? [remark(['requires'], 'Write it as metadata.requires.bins.')] : [],
    ...Object.entries(own).slice(0, most).filter(([name, value]) => name !== 'requires' && isMap(fieldsOf(value)['requires']))
      .map(([name]) => remark(['metadata', name, 'requires'], 'Write the programs that the skill needs as metadata.requires.bins; other requirements are not read.')),
    ...Object.keys(fieldsOf(own['requires'])).filter(name => name !== 'bins').slice(0, most)
      .map(name => remark(['metadata', 'requires', name], fixOf(name)))
  ]
}

function fixOf (name: string): string {
  if (/any/i.test(name)) return 'Write alternatives as lists in bins: [[A], [B]].'
  return nearName(name, ['bins']) === undefined ? 'Only bins is read: see that the machine has the rest.' : 'Write bins.'
}

function remark (path: string[], fix: string): Remark {
  return { rule: 'SC22', path, message: `front matter: ${path.join('.')} is not looked at`, fix }
}

function isMap (value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function fieldsOf (value: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value ?? {}))
}
