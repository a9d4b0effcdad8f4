import { builtinModules } from 'node:module'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { skillNeeds, type Finding, type Skill, type SkillSettings } from '@toolyard/manifests'
import { programPaths, runProgram } from '@toolyard/runtime/install'
import { installCommands } from './packages.ts'

const askMs = 20_000
/** Prints the modules of its arguments that can't be found; it imports none of them. */
const finder = 'import importlib.util, sys\nfor name in sys.argv[1:]:\n try: found = importlib.util.find_spec(name)\n except Exception: found = True\n if found is None: print(name)'

/** Findings about Agent Skills whose programs this machine lacks, or whose scripts can't start. Nothing of a skill is run. */
export async function missingForSkills (
  skills: readonly Skill[], settings: ReadonlyMap<string, SkillSettings>, env: NodeJS.ProcessEnv
): Promise<Finding[]> {
  const hasApt = (await programPaths('apt-get', env)).length > 0
  // Where programs of skills find packages that npm install -g puts there: NODE_PATH.
  const globals = (await programPaths('node', env)).map(node => join(dirname(dirname(node)), 'lib'))
  const findings: Finding[] = []
  for (const skill of skills.filter(({ hasFiles }) => hasFiles)) {
    const needs = await skillNeeds(skill)
    const venv = settings.get(skill.name)?.python
    const path = [...venv === undefined ? [] : [join(venv, 'bin')], env['PATH'] ?? ''].join(':')
    const missing = {
      programs: await without(needs.programs, async name => (
        (await programPaths(name, { PATH: path })).length > 0 || isOther(name, needs.programs)
      )),
      python: await missingModules(needs.python, { ...env, PATH: path }),
      node: needs.node.filter(name => !builtinModules.includes(name) && ![dirname(skill.file), ...globals].some(place => existsSync(join(place, 'node_modules', name))))
    }
    const waits = settings.get(skill.name)?.unixSockets !== true && needs.programs.some(name => ['soffice', 'libreoffice'].includes(name))
    if (waits) findings.push(officeFinding(skill))
    if (needs.crlf.length > 0) findings.push(lineEndsFinding(skill, needs.crlf))
    const names = [...missing.programs, ...missing.python.map(name => `${name} (Python)`), ...missing.node.map(name => `${name} (Node)`)]
    if (names.length === 0) continue
    findings.push({
      severity: 'warning',
      file: skill.file,
      rule: 'skill/missing',
      message: `skill ${JSON.stringify(skill.name)}: this machine lacks ${names.join(', ')}`,
      fix: `${installCommands(missing, { hasApt, venv }).map(command => `Run ${command}`).join('; ')}.`
    })
  }
  return findings
}

function lineEndsFinding ({ name, file }: Skill, scripts: readonly string[]): Finding {
  return {
    severity: 'warning',
    file,
    rule: 'skill/line-ends',
    message: `skill ${JSON.stringify(name)}: lines of ${scripts.join(', ')} end in CR LF, as on Windows, so that a shell, or the kernel, does not start it`,
    fix: 'Save it with LF line ends: sed -i "s/\\r$//" FILE.'
  }
}

/** The older and the newer name of one program. */
function isOther (name: string, all: readonly string[]): boolean {
  return (name === 'magick' && all.includes('convert')) || (name === 'libreoffice' && all.includes('soffice'))
}

async function without (names: readonly string[], isThere: (name: string) => Promise<boolean>): Promise<string[]> {
  const missing: string[] = []
  for (const name of names) if (!await isThere(name)) missing.push(name)
  return missing
}

/** None are told where there is no Python, which is told itself. */
async function missingModules (names: readonly string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  const [python] = names.length === 0 ? [] : await programPaths('python3', env)
  if (python === undefined) return []
  const { ok, output } = await runProgram(python, ['-I', '-c', finder, ...names], env, askMs)
  return ok ? output.split('\n').filter(line => names.includes(line)) : []
}

/** Without a Unix socket it waits without end, but for the helper that some skills bring. */
function officeFinding ({ name, file }: Skill): Finding {
  return {
    severity: 'warning',
    file,
    rule: 'skill/missing',
    message: `skill ${JSON.stringify(name)}: it uses LibreOffice, which waits for a Unix socket that the sandbox gives only where the operator says so`,
    fix: `Write {"skill": ${JSON.stringify(name)}, "unixSockets": true} in a manifest of yours; without need where the skill brings a helper of its own for that.`
  }
}
