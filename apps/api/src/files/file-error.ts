import { asError, errorCode, HttpError } from '@toolyard/contract'
import { WorkspaceFailure } from '@toolyard/workspace'

export const noSuchFile = 'No such file or directory'

const ofSystem: Readonly<Record<string, () => HttpError>> = {
  ENOSPC: () => new HttpError('STORAGE_FULL', 'The disk of the files is full; nothing was changed'),
  EDQUOT: () => new HttpError('QUOTA_EXCEEDED', 'The quota of the file system is used up (EDQUOT); nothing was changed'),
  ENOENT: () => new HttpError('NOT_FOUND', noSuchFile),
  ENAMETOOLONG: () => new HttpError('VALIDATION_ERROR', 'The path or a name in it is too long'),
  EILSEQ: () => new HttpError('VALIDATION_ERROR', 'The file system takes no such name'),
  EINVAL: () => new HttpError('VALIDATION_ERROR', 'The file system takes no such name'),
  EISDIR: () => new HttpError('CONFLICT', 'There is a directory'),
  ENOTDIR: () => new HttpError('CONFLICT', 'A name on the way is no directory'),
  EEXIST: () => new HttpError('CONFLICT', 'There is something of this name'),
  ENOTEMPTY: () => new HttpError('CONFLICT', 'The directory is not empty'),
  EACCES: () => new HttpError('FORBIDDEN', 'The file system does not let the service do this (EACCES)'),
  EPERM: () => new HttpError('FORBIDDEN', 'The file system does not let the service do this (EPERM)'),
  EROFS: () => new HttpError('FORBIDDEN', 'The file system is read-only')
}

/** For a file that can't be had or changed; messages of the system name paths. */
export function toFileError (thrown: unknown): Error {
  const error = asError(thrown)
  if (error instanceof WorkspaceFailure) {
    if (error.message === noSuchFile) return new HttpError('NOT_FOUND', noSuchFile)
    if (error.code === 'NOT_ALLOWED') return new HttpError('FORBIDDEN', error.message)
    if (error.code === 'QUOTA_EXCEEDED') return new HttpError('QUOTA_EXCEEDED', error.message)
    if (error.code === 'INTERNAL') return new HttpError('UNAVAILABLE', error.message)
    return new HttpError('VALIDATION_ERROR', error.message)
  }
  return ofSystem[errorCode(error) ?? '']?.() ?? error
}
