/** `npm run bench`: installs and builds what is missing, then runs the benchmarks. Arguments choose some by name. */
import { spawnSync } from 'node:child_process'
import { build, checkNode, installDependencies, root } from './checkout.mjs'

checkNode()
process.chdir(root)
installDependencies()
build()
// Rows of boxes can't be measured without it, which they say.
const { ensureBubblewrap } = await import('@toolyard/runtime/install')
await ensureBubblewrap({ env: process.env, say: console.log })
const { status } = spawnSync(process.execPath, ['test/build/bench/main.js', ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = status ?? 1
