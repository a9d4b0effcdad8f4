/** `npm run test:soak -- --minutes 15 --seed N`: installs and builds what is missing, then runs the soak. */
import { spawnSync } from 'node:child_process'
import { build, checkNode, installDependencies, root } from './checkout.mjs'

checkNode()
process.chdir(root)
installDependencies()
build()
const { status } = spawnSync(process.execPath, ['test/build/soak/main.js', ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = status ?? 1
