/** `npm start`: installs and builds what is missing, then goes on as `toolyard start`. */
import { build, checkNode, installDependencies, root } from './checkout.mjs'

checkNode()
process.chdir(root)
installDependencies()
build(['apps/cli'])
const { main } = await import('toolyard')
process.exitCode = await main(['start', ...process.argv.slice(2)])
