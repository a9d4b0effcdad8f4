/** Where the files of the workspace begin; a URI that ends in a slash is a directory. */
export const workspaceRoot = 'workspace:///'

/** The URI of a file of the workspace. */
export function workspaceUri (path: string): string {
  return `${workspaceRoot}${path.split('/').map(encodeURIComponent).join('/')}`
}
