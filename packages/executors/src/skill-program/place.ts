import { createHash } from 'node:crypto'

const plain = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Where a box shows the directory of a skill, on every machine and whatever version of it is there. */
export function skillPlace (name: string): string {
  return `/skills/${plain.test(name) ? name : createHash('sha256').update(name).digest('hex').slice(0, 16)}`
}

/** A skill, and where its processes see its directory. */
export interface PlacedSkill {
  name: string
  place: string
}

/** The text with the place of the skill where it has what other programs call that: models do as it says. */
export function withPlaces (text: string, { name, place }: PlacedSkill): string {
  return text.replace(new RegExp(`(?<![\\w./~{}$-])${otherNames(name)}`, 'g'), () => place)
}

/** The same at the beginning of an argument, which may name it by SKILL_DIR as well. */
export function withPlaceFirst (argument: string, { name, place }: PlacedSkill): string {
  return argument.replace(new RegExp(String.raw`^(?:\$(?:SKILL_DIR\b|\{SKILL_DIR\})|${otherNames(name)})`), () => place)
}

/** A variable, or the directory that other programs have their skills in: of a home, a project or a plugin. */
function otherNames (name: string): string {
  const own = String.raw`skills\/${name.replace(/[^\w]/g, String.raw`\$&`)}(?=\/)`
  const inProgram = String.raw`(?:(?:~|\$HOME|\$\{HOME\})\/|\.\/)?\.[a-z][\w-]*(?:\/[\w-]+)?\/${own}`
  return String.raw`(?:\$\{CLAUDE_SKILL_DIR\}|\$CLAUDE_SKILL_DIR\b|\{baseDir\}|\$(?:CLAUDE_PLUGIN_ROOT|\{CLAUDE_PLUGIN_ROOT\})\/${own}|${inProgram})`
}
