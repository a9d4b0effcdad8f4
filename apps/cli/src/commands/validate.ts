import type { Finding } from '@toolyard/manifests'
import type { Command } from '../command.ts'

/** `toolyard validate`: everything that is wrong with manifests (P32, PC1, PC6). */
export const validate: Command = {
  name: 'validate',
  summary: 'Check manifests and print every finding',
  help: `Usage: toolyard validate [--strict] [--json] PATH...

Checks manifests as a service would load them in this order: files, skill directories, or directories of skills. Prints every
finding of every file with its position, rule and remedy. Runs nothing and needs no Redis.

  --strict  warnings are errors
  --json    print {ok, findings, files} as JSON

Exit status: 0 without errors, 1 with errors, 2 for a command line that makes no sense.`,
  options: { strict: { type: 'boolean' }, json: { type: 'boolean' } },
  takesArguments: true,
  run: async ({ options, args }) => {
    if (args.length === 0) {
      console.error('toolyard validate: which manifests? Name at least one path.')
      return 2
    }
    const { validateManifests } = await import('@toolyard/manifests')
    const { readSettings, toolSourcesOf } = await import('@toolyard/runtime')
    const { skills } = toolSourcesOf(readSettings(process.env), process.env)
    const validation = await validateManifests(args, { strict: options['strict'] === true, skills })
    if (options['json'] === true) console.log(JSON.stringify(validation, null, 2))
    else console.log(report(validation.findings, args.length))
    return validation.ok ? 0 : 1
  }
}

function report (findings: readonly Finding[], manifests: number): string {
  if (findings.length === 0) return `Validated ${manifests} manifest file(s) with no issues.`
  const errors = findings.filter(finding => finding.severity === 'error').length
  const head = errors > 0 ? 'Validation failed:' : `Validated ${manifests} manifest file(s) with warnings:`
  return [head, ...findings.map(line), '', `${errors} errors, ${findings.length - errors} warnings`].join('\n')
}

function line ({ severity, file, line, column, rule, message, fix }: Finding): string {
  const position = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`
  return ` - ${file}${position} :: ${message}\n     ${severity} ${rule}${fix === undefined ? '' : `; ${fix}`}`
}
