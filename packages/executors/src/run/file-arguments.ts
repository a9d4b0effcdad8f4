import { FilePlaces, errorCode, limits, mostFileSteps, namesFiles, pathOf, withFiles, type FilePlace, type FileSearch } from '@toolyard/contract/terms'
import type { JsonSchema } from '@toolyard/manifests'
import { TooManyValues, Turns } from '@toolyard/runtime'
import { atPlace, nameOf, shown, WorkspaceFailure, type WorkspaceSetting } from '@toolyard/workspace'
import { interruptionError } from './interruption.ts'
import type { Failure, RunContext } from './outcome.ts'

/*
 * Where a schema says `"format": "session-file"`, the argument names a file of the session. It must be there, and the tool gets
 * its path from its working directory, without links.
 */

interface FileSource {
  workspaceDir: string
  serviceFiles?: readonly string[]
  /** Without it, each name is taken to fit each pattern. */
  compilePattern?: FileSearch['compile']
}

const fitsAll: FileSearch['compile'] = () => ({ test: () => true, places: 0 })

interface Issue { path: string, message: string }

/**
 * The arguments with the paths of their files; INVALID_ARGUMENTS names each that isn't there. They are checked against the
 * schema already.
 */
export async function withFileArguments (
  schema: JsonSchema, args: Record<string, unknown>, context: RunContext, source: FileSource
): Promise<{ ok: true, args: Record<string, unknown> } | Failure> {
  if (!namesFiles(schema)) return { ok: true, args }
  try {
    const search = { compile: source.compilePattern ?? fitsAll, turns: new Turns(mostFileSteps) }
    const places = await new FilePlaces(schema, search).find(args, limits.resultFiles)
    const excess = places[limits.resultFiles]
    if (excess !== undefined) return refused([refusal(excess, `a call names at most ${limits.resultFiles} files`)])
    const { files, issues } = await lookUp(places, context, source)
    return issues.length === 0 ? { ok: true, args: withFiles(args, files) } : refused(issues)
  } catch (error) {
    if (error instanceof TooManyValues) return refused([{ path: '/', message: 'the arguments hold too much to be searched for files' }])
    if (context.signal.aborted) return { ok: false, error: interruptionError({ kind: 'abort', reason: context.signal.reason }) }
    throw error
  }
}

async function lookUp (
  places: readonly FilePlace[], { session, tenant, signal }: RunContext, { workspaceDir, serviceFiles = [] }: FileSource
): Promise<{ files: Map<FilePlace, string>, issues: Issue[] }> {
  // The shared workspace is the operator's.
  const shared: WorkspaceSetting | undefined = tenant === undefined ? { path: workspaceDir, serviceFiles } : undefined
  const workspace: WorkspaceSetting | undefined = session === undefined ? shared : { path: session.dir, serviceFiles: [] }
  const files = new Map<FilePlace, string>()
  const issues: Issue[] = []
  for (const place of places) {
    const { value: file } = place
    if (workspace === undefined) {
      issues.push(refusal(place, 'a file is one of a session, and the call names none'))
      continue
    }
    const inside = file.startsWith(`${workspaceDir}/`) ? file.slice(workspaceDir.length + 1) : file
    try {
      files.set(place, await atPlace({ workspace, signal }, inside, { notFound: 'there is no such file' }, async ({ stats, relative }) => {
        if (stats?.isFile() !== true) throw new WorkspaceFailure('it is no file')
        const way = nameOf(relative)
        if (typeof way !== 'string') throw new WorkspaceFailure('its path is not UTF-8, as an argument must be')
        return await Promise.resolve(way)
      }))
    } catch (error) {
      const why = error instanceof WorkspaceFailure ? error.message : errorCode(error)
      if (why === undefined) throw error
      issues.push(refusal(place, why))
    }
  }
  return { files, issues }
}

function refusal (place: FilePlace, why: string): Issue {
  return { path: pathOf(place), message: `${shown(place.value)} can't be used: ${why}` }
}

function refused (issues: Issue[]): Failure {
  const [{ path, message } = { path: '', message: '' }] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return { ok: false, error: { code: 'INVALID_ARGUMENTS', message: `${path.slice(1)}: ${message}${more}`, details: { issues } } }
}
