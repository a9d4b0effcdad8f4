#!/usr/bin/env node
// Links to this file are made before the first build, so it can't be a product of the build itself.
import { existsSync } from 'node:fs'

const built = new URL('../dist/main.js', import.meta.url)
if (!existsSync(built)) {
  console.error('toolyard is not built yet: run npm run build')
  process.exit(1)
}
const { main } = await import(built.href)
process.exitCode = await main(process.argv.slice(2))
