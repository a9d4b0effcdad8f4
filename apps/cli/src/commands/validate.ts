import type { Finding, ValidationOptions } from '@toolyard/manifests'
import type { Settings } from '@toolyard/runtime'
import type { Command } from '../terminal/command.ts'
import { misuse } from '../terminal/exit-status.ts'
import { rulesPage } from '../rules/rules.ts'
import { complain, print } from '../terminal/terminal.ts'

/** `toolyard validate`: everything that is wrong with manifests. */
export const validate: Command = {
  name: 'validate',
  summary: 'Check manifests and print every finding',
  help: `Checks manifests as a service would load them in this order: files, skill directories, or directories of skills. Prints every
finding of every file with its position, rule and remedy; toolyard explain tells what a rule asks for. Runs no tool, and needs
no Redis.

It runs code of Python modules: it imports them and constructs their classes. This happens in the sandbox, without the network
and the service's files, whatever the manifest asks for; without a whole sandbox nothing is imported, and that is said.

Notes are advice about models, and variables that are not set here: they don't count, with --strict either.

Exit status: 0 without errors, 1 with errors, 2 for a command line that makes no sense.`,
  arguments: ['<paths...>'],
  options: [
    ['--strict', 'warnings are errors'],
    ['--provider <name>', 'what the API of openai, anthropic or gemini would refuse, and what is sent to it instead'],
    ['--no-import', 'leave Python modules alone'],
    ['--import', 'import them even where there is no whole sandbox: with your files and your network'],
    ['--json', 'print {ok, findings, files} as JSON']
  ],
  run: async ({ options, args, words }) => {
    if (words.includes('--import') && words.includes('--no-import')) throw misuse('--import or --no-import, not both.')
    const { lintProviders, validateManifests } = await import('@toolyard/manifests')
    const asked = options['provider']
    const provider = lintProviders.find(each => each === asked)
    if (asked !== undefined && provider === undefined) throw misuse(`--provider must be ${lintProviders.join(', ')}, not '${typeof asked === 'string' ? asked : ''}'`)
    const { loadEnvFile, readSettings, toolSourcesOf } = await import('@toolyard/runtime')
    loadEnvFile()
    const settings = readSettings(process.env)
    const { skills, policyFile, lock } = toolSourcesOf(settings, process.env)
    const [{ missingForSkills }, { missingVariables }, { unnamedHosts }] = await Promise.all([
      import('../needs/missing.ts'), import('../needs/variables.ts'), import('../needs/private-hosts.ts')
    ])
    const validation = await validateManifests(args, {
      strict: options['strict'] === true,
      provider,
      skills,
      policyFile,
      lock,
      lacking: async read => [
        ...await missingForSkills(read.skills, read.settings, process.env), ...missingVariables(read, 'note', process.env), ...unnamedHosts(read, 'note', settings.HTTP_PRIVATE_HOSTS)
      ],
      ...(options['import'] === false ? {} : { tryImports: await importer(settings, words.includes('--import')) })
    })
    if (options['json'] === true) print(JSON.stringify(validation, null, 2))
    else print(report(validation.findings, args.length))
    return validation.ok ? 0 : 1
  }
}

/** A module that isn't imported, for lack of Python or of a sandbox, is told beside the findings. */
async function importer (settings: Settings, evenInTheOpen: boolean): Promise<NonNullable<ValidationOptions['tryImports']>> {
  const [{ tryImports }, { programPaths }, { serviceFilesOf }] = await Promise.all([import('@toolyard/executors'), import('@toolyard/runtime/install'), import('@toolyard/runtime')])
  return async tools => {
    const none = { faults: [], signatures: [] }
    if (tools.every(({ run }) => run.kind !== 'python')) return none
    if ((await programPaths('python3', process.env)).length === 0) {
      complain('toolyard validate: there is no python3 on the PATH, so that modules are not imported.')
      return none
    }
    const { skipped, ...tries } = await tryImports(tools, {
      env: process.env, hidden: serviceFilesOf(settings, process.env), defaultPermissions: settings.TOOL_DEFAULT_PERMISSIONS, evenInTheOpen
    })
    if (skipped !== undefined) complain(`toolyard validate: modules are not imported, since ${skipped}. --import imports them in the open.`)
    return tries
  }
}

/** In this order: what must be mended is not to be looked for among notes. */
const severities = ['error', 'warning', 'note'] as const

function report (findings: readonly Finding[], manifests: number): string {
  if (findings.length === 0) return `Validated ${manifests} manifest file(s) with no issues.`
  const sorted = severities.map(which => findings.filter(({ severity }) => severity === which))
  const [errors = 0, warnings = 0] = sorted.map(({ length }) => length)
  const counts = sorted.map(({ length }, at) => `${length} ${severities[at]}${length === 1 ? '' : 's'}`)
  const issues = warnings > 0 ? 'warnings' : 'no issues, and notes'
  const head = errors > 0 ? 'Validation failed:' : `Validated ${manifests} manifest file(s) with ${issues}:`
  const page = rulesPage()
  const lead = `toolyard explain ${sorted.flat()[0]?.rule ?? 'A31'} tells what that rule asks for${page === undefined ? '' : `; all rules are in ${page}`}`
  return [head, ...sorted.flat().map(line), '', counts.join(', '), lead].join('\n')
}

function line ({ severity, file, line, column, rule, message, fix }: Finding): string {
  const position = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`
  return ` - ${file}${position} :: ${message}\n     ${severity} ${rule}${fix === undefined ? '' : `; ${fix}`}`
}
