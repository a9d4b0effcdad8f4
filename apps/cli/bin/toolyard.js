#!/usr/bin/env node
// Links to this file are made before the first build, so it can't be a product of the build itself.
import { existsSync } from 'node:fs'
import { nodeFault } from './node-version.js'

const fault = nodeFault()
if (fault !== undefined) {
  console.error(fault)
  process.exit(1)
}

// A package has a bundle; a checkout has none.
const built = ['../bundle/main.js', '../dist/main.js'].map(path => new URL(path, import.meta.url)).find(existsSync)
if (built === undefined) {
  console.error('toolyard is not built yet: run npm run build')
  process.exit(1)
}
const { main } = await import(built.href)
process.exitCode = await main(process.argv.slice(2))
