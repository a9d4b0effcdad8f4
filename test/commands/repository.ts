import { execFileSync } from 'node:child_process'

/** Runs git in a repository; its output. */
export const gitIn = (repository: string) => (input: string, ...words: string[]): string => execFileSync('git', ['-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...words], { encoding: 'utf8', input }).trim()

/** Makes a repository of a directory. */
export function commitIn (repository: string): string {
  const git = gitIn(repository)
  git('', 'init', '--quiet')
  git('', 'add', '.')
  git('', 'commit', '--quiet', '-m', 'first')
  return git('', 'rev-parse', 'HEAD')
}
