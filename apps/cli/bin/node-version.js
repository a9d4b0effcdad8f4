const oldestMajor = 20
const oldestMinor = 3

/**
 * What is wrong with the Node.js that runs this: an old one would fail at the first thing that it doesn't know. It must be
 * able to read this file.
 *
 * @returns {string | undefined}
 */
export function nodeFault () {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined
  return `Toolyard needs Node.js ${oldestMajor}.${oldestMinor} or newer; this is ${process.versions.node} (${process.execPath}).\nGet one at https://nodejs.org`
}
