import picomatch from 'picomatch'

/** Makes the check of a glob: with a slash it is for paths from the workspace, without one for names. None fits all. */
export function createGlob (glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true
  const matches = picomatch(glob.replace(/^\.?\//, ''), { dot: true })
  return glob.includes('/') ? path => matches(path) : path => matches(path.slice(path.lastIndexOf('/') + 1))
}
