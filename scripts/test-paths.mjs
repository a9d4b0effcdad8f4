/**
 * Maps the source of a test, or a directory of tests, to what was built from it; anything else stays as it is.
 *
 * @param {string} argument
 */
export function builtPath (argument) {
  if (!/^(\.\/)?test\//.test(argument) || /^(\.\/)?test\/build\//.test(argument)) return argument
  const built = argument.replace(/^(\.\/)?test\//, 'test/build/')
  if (built.endsWith('.ts')) return built.replace(/\.ts$/, '.js')
  return built.endsWith('.js') ? built : `${built.replace(/\/$/, '')}/**/*.test.js`
}
