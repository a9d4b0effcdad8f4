import { limits, writeJson } from '@toolyard/contract/terms'
import { withoutTexts, type Outcome, type Success } from '@toolyard/executors'
import type { Tool } from '@toolyard/manifests'
import { atPlace, hashBounds, readContent, replaceFile, WorkspaceFailure, type CountedSession, type SessionQuota, type Survey } from '@toolyard/workspace'
import { setImmediate as turn } from 'node:timers/promises'

/** Where large outputs of a session are, as files. */
const directoryName = 'outputs'

interface OutputFilePlace {
  session: CountedSession
  signal: AbortSignal
  quota: SessionQuota
}

/**
 * The outcome of a call in a session; an output that an answer would cut is also a file of the session, `outputs/JOB.json`
 * or `.txt`, as models and tools know files. It is a help and no promise: where it can't be written, or has no room, the call is as it was.
 *
 * @throws errors of the file system, WorkspaceFailure
 */
export async function withOutputFile (outcome: Outcome, tool: Tool, jobId: string, place: OutputFilePlace): Promise<Outcome> {
  if (!outcome.ok || readsFiles(tool)) return outcome
  const json = outcome.json ?? Buffer.from(writeJson(outcome.output))
  if (json.length <= limits.outputChars) return outcome
  if (outcome.json !== undefined) await turn()
  const text = json.toString()
  if (text.length <= limits.outputChars) return outcome
  const isText = text.startsWith('"')
  const content = isText ? Buffer.from(String(JSON.parse(text))) : json
  const hasRoom = await place.quota.take(place.session, content.length).then(() => true, (error: unknown) => {
    if (!(error instanceof WorkspaceFailure)) throw error
    return false
  })
  if (!hasRoom) return outcome
  return await written(outcome, `./${directoryName}/${jobId}.${isText ? 'txt' : 'json'}`, content, place)
}

/** The outcome of a call with the files that it made or changed, but those whose names hold a secret of it. */
export function withFiles (outcome: Success, survey: Pick<Survey, 'changed' | 'hasMore'>): Outcome {
  const { secretForms = [] } = outcome
  const files = survey.changed.filter(({ path }) => withoutTexts(path, secretForms) === path)
  const hasMore = survey.hasMore || files.length < survey.changed.length
  return files.length === 0 && !hasMore ? outcome : { ...outcome, files, ...(hasMore ? { moreFiles: true } : {}) }
}

/** A tool that reads files of the session, or of a skill, would make copies of them. */
function readsFiles ({ run, jobType, permissions }: Tool): boolean {
  return run.kind === 'read-skill' || (run.kind === 'builtin' && permissions?.join() === 'read_repo' && jobType !== 'workflow.run')
}

async function written (outcome: Success, path: string, content: Buffer, { session, signal }: OutputFilePlace): Promise<Outcome> {
  const workspace = { path: session.dir, serviceFiles: [] }
  const options = { notFound: 'it is not there', mayBeMissing: true, makeParents: true }
  return await atPlace({ workspace, signal }, path, options, async place => {
    await replaceFile(place, content, { standing: undefined, check: () => {} })
    const about = await readContent(place, hashBounds.one)
    return about === undefined ? outcome : { ...outcome, files: [...outcome.files ?? [], { path: place.relative, ...about }] }
  })
}
