/*
 * Loaded into each file of tests: a warning of Node.js, such as one of too many listeners, fails the file that it comes from.
 * A version of Node.js warns of its own features, which is no message.
 */

const ofVersions = new Set(['DeprecationWarning', 'ExperimentalWarning'])

process.on('warning', ({ name, stack }) => {
  if (ofVersions.has(name)) return
  console.error(stack)
  process.on('exit', () => { process.exitCode = 1 })
})
