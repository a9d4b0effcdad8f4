import { resourceUri, type ResourceUri, type Tool } from '@toolyard/manifests'
import {
  ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type InputRequiredResult, type ReadResourceResult, type Resource,
  type ResourceTemplateType
} from '@modelcontextprotocol/server'
import type { Publication } from '../../catalog/tool-catalog.ts'
import { fileContents, outputContents } from './contents.ts'
import type { OfferedTool } from './offered-tool.ts'
import { skillScheme, type SkillResources } from './skills.ts'
import { listWorkspace, mayRead, readWorkspace, workspacePath } from './workspace-files.ts'
import { workspaceRoot } from '../call/call-result.ts'

export interface Resources {
  publication: Publication
  skills: SkillResources
  tool: OfferedTool
  /** Whether the key may run the tools that read the workspace, and the call has one. */
  seesWorkspace: boolean
}

export type Page = { resources: Resource[], nextCursor?: string }

/** Tells the pages of the workspace from the first one. */
const workspaceCursor = 'workspace:'

/** Texts of skills, resources that tools make, and what is at the top of the workspace; further pages are all of the workspace. */
export async function listResources (cursor: string | undefined, { publication, skills, tool, seesWorkspace }: Resources): Promise<Page> {
  if (cursor !== undefined && !cursor.startsWith(workspaceCursor)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such cursor')
  const sees = seesWorkspace && mayRead(publication)
  const { resources = [], nextCursor } = sees ? await listWorkspace('', cursor?.slice(workspaceCursor.length), tool) : {}
  return await tool.inTurn(() => {
    const own = made(publication).filter(({ uri }) => uri.variables.length === 0).map(({ tool }) => described(tool))
    const fixed = cursor === undefined ? [...skills.documents(), ...own] : []
    return { resources: [...fixed, ...resources], ...nextCursor !== undefined && { nextCursor: `${workspaceCursor}${nextCursor}` } }
  })
}

/** Resources whose URIs have variables. */
export function listTemplates ({ publication, seesWorkspace }: Resources): ResourceTemplateType[] {
  const workspace = { uriTemplate: `${workspaceRoot}{+path}`, name: 'workspace', description: 'A file of the workspace; a directory, with a slash at the end.' }
  const skill = { uriTemplate: `${skillScheme}{skill}/{+path}`, name: 'skill', description: 'A file of a skill.' }
  const templates = made(publication).flatMap(({ tool, uri }): ResourceTemplateType[] => {
    if (uri.variables.length === 0) return []
    const { uri: uriTemplate, ...rest } = described(tool)
    return [{ uriTemplate, ...rest }]
  })
  return [skill, ...seesWorkspace && mayRead(publication) ? [workspace] : [], ...templates]
}

/** @throws ResourceNotFoundError for what the key doesn't see. */
export async function readResource (
  uri: string, { publication, skills, tool }: Resources
): Promise<ReadResourceResult | InputRequiredResult> {
  if (uri.startsWith(skillScheme)) {
    const content = await skills.read(uri)
    if (content !== undefined) return await tool.inTurn(() => fileContents(uri, content))
    throw new ResourceNotFoundError(uri)
  }
  const path = workspacePath(uri)
  if (path !== undefined && mayRead(publication)) {
    return await readWorkspace(uri, path, tool).catch((error: unknown) => {
      throw isMissing(error) ? new ResourceNotFoundError(uri) : error
    })
  }
  for (const { tool: { name, publishAs }, uri: template } of made(publication)) {
    const args = template.match(uri)
    const mimeType = publishAs?.kind === 'resource' ? publishAs.mimeType : undefined
    if (args !== undefined) {
      const made = await tool.run(name, args)
      return made.kind === 'asked' ? made.result : await tool.inTurn(() => outputContents(uri, made.read(), mimeType))
    }
  }
  throw new ResourceNotFoundError(uri)
}

/**
 * Entries of a directory of a skill or of the workspace.
 *
 * @throws ProtocolError for what is no directory that the key sees.
 */
export async function readDirectory (uri: string, cursor: string | undefined, { publication, skills, tool }: Resources): Promise<Page> {
  if (uri.startsWith(skillScheme)) {
    const resources = await skills.children(uri)
    if (resources !== undefined) return await tool.inTurn(() => ({ resources }))
  }
  const path = workspacePath(uri)
  if (path === undefined || !mayRead(publication)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such directory', { uri })
  return await listWorkspace(path, cursor, tool)
}

/** Whether a URI can be watched: what the manifests say of it may change. Changes in the workspace are not seen. */
export function isWatchable (uri: string, { publication, skills }: Resources): boolean {
  const isSkill = skills.documents().some(document => document.uri === uri)
  return isSkill || made(publication).some(({ uri: template }) => template.match(uri) !== undefined)
}

/** The tool that makes a resource, by its URI as it is listed. */
export function maker (uri: string, publication: Publication): Tool | undefined {
  return made(publication).find(({ tool: { publishAs } }) => publishAs?.kind === 'resource' && publishAs.uri === uri)?.tool
}

function made ({ resources }: Publication): Array<{ tool: Tool, uri: ResourceUri }> {
  return resources.flatMap(tool => tool.publishAs?.kind === 'resource' ? [{ tool, uri: resourceUri(tool.publishAs.uri) }] : [])
}

function described (tool: Tool): Resource {
  const { publishAs, name, description } = tool
  const { uri = '', mimeType } = publishAs?.kind === 'resource' ? publishAs : {}
  return { uri, name, description, ...mimeType !== undefined && { mimeType } }
}

function isMissing (error: unknown): boolean {
  return error instanceof ProtocolError && error.message.startsWith('file not found')
}
