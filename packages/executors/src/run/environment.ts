import { isSecretVariable } from '@toolyard/contract/terms'

interface ToolEnvironment {
  variables: Record<string, string>
  /** The names of the allowlist that are passed: for the audit. */
  passedKeys: string[]
}

const base = ['PATH', 'HOME']
/** Without it, programs take every letter beyond ASCII for several; which language the service itself has is no matter. */
const locale = { LANG: 'C.UTF-8' }

/**
 * The whole environment of a tool: PATH and HOME unless empty, a locale with UTF-8, and of `passthrough` what exists,
 * empty or not. Nothing else of the worker's environment gets through, and no secret of the
 * service. `trace` says where the run belongs in a trace.
 */
export function toolEnvironment (
  passthrough: readonly string[], source: NodeJS.ProcessEnv, trace?: Readonly<Record<string, string>>
): ToolEnvironment {
  const passedKeys = passthrough.filter(name => source[name] !== undefined && !isSecretVariable(name))
  const names = [...base.filter(name => source[name] !== ''), ...passedKeys]
  const variables: Record<string, string> = { ...locale }
  for (const name of names) {
    const value = source[name]
    if (value !== undefined) variables[name] = value
  }
  return { variables: trace === undefined ? variables : { ...variables, ...trace }, passedKeys }
}
