/** How soon the end of npm's shell is seen, in milliseconds. */
const lookMs = 500

/**
 * Stops this process as SIGTERM does when the shell goes in which npm has started it. npx and `npm run` pass a signal that they get
 * to their shell alone, which ends without a word to what it has started.
 */
export function followNpm (env: NodeJS.ProcessEnv): void {
  if (env['npm_lifecycle_event'] === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, lookMs)
  timer.unref()
}
