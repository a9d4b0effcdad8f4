/*
 * Loaded into each file of tests: a warning of Node.js, such as one of too many listeners, fails the file that it comes from.
 * What a version of Node.js has to say of its own features is none.
 */

const ofVersions = new Set(['DeprecationWarning', 'ExperimentalWarning'])

process.on('warning', ({ name, stack }) => {
  if (ofVersions.has(name)) return
  console.error(stack)
  process.on('exit', () => { process.exitCode = 1 })
})
