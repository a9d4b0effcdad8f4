import { toolEnvironment } from '../../command/environment.ts'
import { runProcess, type ProcessHost } from '../../process/run-process.ts'
import { findOnPath } from '../../process/find-program.ts'
import type { BuiltinContext } from '../handler.ts'
import { rustSyntax } from './rust-syntax.ts'
import type { SearchScope } from './search-base.ts'
import type { LineQuery } from './task.ts'

/** Bytes of paths that are taken from ripgrep; more of them are searched for without it. */
const maxPathBytes = 1_048_576

/** ripgrep, where it is installed. */
export interface Ripgrep {
  /**
   * The files below the base in which the query may be, by their path from there: all that have it and perhaps more.
   * Undefined when ripgrep can't tell.
   */
  matchingFiles (query: LineQuery, scope: SearchScope, context: BuiltinContext): Promise<string[] | undefined>
}

/** Looks for `rg` on the PATH, once. */
export function findRipgrep (env: NodeJS.ProcessEnv, host: ProcessHost): Ripgrep {
  const program = findOnPath('rg', env['PATH'])
  return {
    async matchingFiles (query, scope, { signal }) {
      const pattern = patternArguments(query)
      if (program === undefined || pattern === undefined) return undefined
      const args = [...fixedArguments, ...scopeArguments(scope), ...pattern, '--', '.']
      const end = await runProcess({ program, args, env: toolEnvironment([], env).variables, cwd: scope.absolute }, {
        stdin: '', timeoutMs: Math.max(1, scope.until - Date.now()), signal, maxOutputBytes: maxPathBytes, onLine: () => {}
      }, host)
      // 0: found, 1: found nothing, 2: something was wrong, if only with one file.
      if (end.ending.kind !== 'exit' || end.ending.code > 1 || end.stdout.totalBytes > maxPathBytes) return undefined
      return end.stdout.kept.toString('utf8').split('\0').filter(path => path !== '').map(path => path.replace(/^\.\//, ''))
    }
  }
}

/** Nothing from configuration or from above the base; bytes as they are; binary files too, to count them. */
const fixedArguments = ['--no-config', '--files-with-matches', '--null', '--no-messages', '--color=never', '--crlf', '--binary', '--encoding=none', '--no-ignore-parent', '--no-ignore-global', '--no-ignore-exclude', '--no-ignore-dot', '--no-require-git']

function scopeArguments ({ includeHidden, ignoreAbove }: SearchScope): string[] {
  return [...(includeHidden ? ['--hidden'] : []), ...(ignoreAbove === undefined ? ['--no-ignore'] : [])]
}

function patternArguments ({ query, regex, caseSensitive }: LineQuery): string[] | undefined {
  const pattern = regex ? rustSyntax(query) : query
  if (pattern === undefined) return undefined
  return [caseSensitive ? '--case-sensitive' : '--ignore-case', ...(regex ? [] : ['--fixed-strings']), `--regexp=${pattern}`]
}
