import type { Static } from 'typebox'
import { Type } from '@toolyard/contract/type'
import { ManifestFault, type FaultPlace } from '../../finding/finding.ts'
import { manifestLimits } from '../../tool/limits.ts'
import type { Remark } from '../tools/execution-check.ts'
import { nullable, shapeFaults, type ShapeFault } from '../tools/shape.ts'
import { nearName } from '@toolyard/contract/terms'
import { nextTurn } from '@toolyard/runtime'

/** Keys of a front matter that are looked at. */
const most = 100

const Name = Type.String({ minLength: 1 })

/** Other fields of a front matter are for others. */
export const FrontMatter = Type.Object({
  name: nullable(Type.String({ minLength: 1 })),
  description: nullable(Type.String()),
  metadata: nullable(Type.Object({
    requires: nullable(Type.Object({
      bins: nullable(Type.Array(Type.Union([Name, Type.Array(Name)]), { description: 'Programs that the skill needs, or lists of them, one of which must be there; it is skipped where one is missing.' }))
    }))
  }))
})
export type FrontMatter = Static<typeof FrontMatter>

interface SkillDocument {
  frontMatter: FrontMatter
  /** The text behind the front matter, exactly. */
  body: string
  /** Requirements that stand where nobody reads them. */
  remarks: Remark[]
  /** Fields that nobody reads, for whoever validates. */
  unknownKeys: Remark[]
}

/** Fields of a skill, in the format of the specification and in that of Agent Skills. */
const knownKeys = new Set(['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools', 'disable-model-invocation', 'argument-hint', 'capability_tier', 'variant_of'])
const mostKeys = 20
/** A field at the left with something behind it. */
const field = /^([A-Za-z][\w-]*):([ \t]+)(\S.*)$/
const plainText = /^[^"'[{|>&*!#%@`]/
const fence = /^---[ \t]*\r?$/
const fix = 'Start SKILL.md with a line ---, then name and description as YAML, then another line ---.'
const binsFix = 'List names of programs, all of which are needed, or lists of such names, one of which must be there as a whole.'
const tiers = ['minimal', 'moderate', 'full']
const yamlFix = 'Correct the YAML: a text that has a colon and a space in it stands in quotes, and one that begins with a sign such as @; each name stands once.'

/**
 * Takes a SKILL.md apart. The front matter is what stands between the first line and the next line that are nothing
 * but `---`; a file whose first line is another has none.
 *
 * @param faults gets what in the front matter isn't as it must be: its requirements can't be known then, so the skill
 * isn't used.
 * @throws ManifestFault for a front matter that isn't closed or isn't YAML.
 */
export async function parseSkillDocument (text: string, faults: ManifestFault[]): Promise<SkillDocument> {
  const lines = text.replace(/^\ufeff/, '').split('\n')
  if (!fence.test(lines[0] ?? '')) return { frontMatter: {}, body: lines.join('\n'), remarks: [], unknownKeys: [] }
  const end = lines.findIndex((line, index) => index > 0 && fence.test(line))
  if (end === -1) throw new ManifestFault('B15', 'the front matter has no closing line ---', { fix })
  // An empty line in the place of the first one: positions are those of the file.
  const { value: read, remarks } = await parseLenient(['', ...lines.slice(1, end), ''])
  const value = read ?? {}
  faults.push(...(await shapeFaults(FrontMatter, value)).map(shapeFault))
  if (faults.length === 0) faults.push(...mixedBins(value))
  return { frontMatter: faults.length > 0 ? {} : value, body: lines.slice(end + 1).join('\n'), remarks: [...remarks, ...unreadRequirements(value), ...tierRemarks(value)], unknownKeys: unknownKeys(value, lines.slice(0, end)) }
}

function shapeFault ({ path, message }: ShapeFault): ManifestFault {
  const isProgram = path.startsWith('/metadata/requires/bins')
  return new ManifestFault('SC22', `front matter: ${message}`, {
    path: path.split('/').slice(1).map(part => /^\d+$/.test(part) ? Number(part) : part),
    fix: path === '' ? fix : isProgram ? binsFix : 'Correct the value.'
  })
}

/** Programs that are needed and alternatives don't stand in one list. */
function mixedBins ({ metadata }: FrontMatter): ManifestFault[] {
  const bins = metadata?.requires?.bins ?? []
  return new Set(bins.map(Array.isArray)).size < 2 ? [] : [new ManifestFault('SN34', 'front matter: metadata.requires.bins has names and lists side by side', { path: ['metadata', 'requires', 'bins'], fix: binsFix })]
}

/** Nothing is switched by it: it is for people, and for whoever chooses skills for a model. */
function tierRemarks (value: object): Remark[] {
  const tier: unknown = 'capability_tier' in value ? value.capability_tier : undefined
  return tier == null || (typeof tier === 'string' && tiers.includes(tier)) ? [] : [{ rule: 'SN36', path: ['capability_tier'], message: 'front matter: capability_tier is none of minimal, moderate and full', fix: 'Write one of the three.' }]
}

/** Fields that are texts, whatever they look like. */
const forPeople = new Set(['description', 'argument-hint', 'when_to_use', 'compatibility', 'license'])

/**
 * Reads what people write. A text with a colon in it needs quotes, and so does a text for people with a sign such as
 * @ or [ in front: `argument-hint: [file] [format]`. Many forget them: it is read as if it had them, and told.
 */
async function parseLenient (lines: readonly string[]): Promise<{ value: unknown, remarks: Remark[] }> {
  try {
    return { value: await parseYaml(lines.join('\n')), remarks: [] }
  } catch (fault) {
    if (!(fault instanceof ManifestFault)) throw fault
    const remarks: Remark[] = []
    const quoted: string[] = []
    for (const [at, line] of lines.entries()) {
      const [, key = '', blanks = '', text = ''] = field.exec(line.replace(/\r$/, '')) ?? []
      const hasColon = plainText.test(text) && /:(?:\s|$)| #/.test(text)
      if (!hasColon && (!forPeople.has(key) || await isYaml(line))) quoted.push(line)
      else {
        quoted.push(`${key}: ${JSON.stringify(text.trimEnd())}`)
        const why = hasColon ? 'has a colon' : `begins with ${text.charAt(0)}`
        remarks.push({ rule: 'SC22', line: at + 1, column: key.length + blanks.length + 2, message: `front matter: ${key} ${why} and stands in no quotes; it is read as a text`, fix: yamlFix })
      }
    }
    if (remarks.length === 0) throw fault
    const value = await parseYaml(quoted.join('\n')).catch(() => { throw fault })
    return { value, remarks }
  }
}

async function isYaml (line: string): Promise<boolean> {
  return await parseYaml(line).then(() => true, () => false)
}

/** Names that look like a field of somebody else are told as well: what they ask for doesn't happen. `requires` has a remark of its own. */
function unknownKeys (value: unknown, lines: readonly string[]): Remark[] {
  return Object.keys(value ?? {}).filter(key => !knownKeys.has(key) && key !== 'requires').slice(0, mostKeys).map(key => {
    const at = lines.findIndex(line => line.startsWith(`${key}:`))
    return { rule: 'skill/front-matter', ...at > 0 && { line: at + 1, column: 1 }, message: `front matter: ${shown(key)} is no field that is read`, fix: 'Leave it, if other programs read it; put what is for people into metadata.' }
  })
}

function shown (key: string): string {
  return JSON.stringify(key.length > 100 ? `${key.slice(0, 100)}…` : key)
}

/** The reader of YAML is loaded with the first skill. */
async function parseYaml (yaml: string): Promise<unknown> {
  if (yaml.length > manifestLimits.frontMatterChars) throw unusable(`is longer than ${manifestLimits.frontMatterChars} characters`)
  const { parseForeignYaml } = await import('./front-matter-yaml.ts')
  // One text takes some 20 ms, and the lines of one may be read by themselves.
  await nextTurn()
  try {
    return parseForeignYaml(yaml)
  } catch (error) {
    // A ReferenceError is an alias that is missing, or one too many.
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    const at = / at line (\d+), column (\d+):?$/.exec(message)
    if (at === null) throw unusable(message.replace(/:$/, ''))
    throw unusable(message.slice(0, at.index), { line: Number(at[1]), column: Number(at[2]), fix: yamlFix })
  }
}

function unusable (message: string, place: FaultPlace = { fix }): ManifestFault {
  return new ManifestFault('SC22', `front matter: ${message}`, place)
}

/** Requirements of a front matter that stand where nobody reads them, so that they hold nothing back. */
function unreadRequirements (frontMatter: unknown): Remark[] {
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
