#!/usr/bin/env node
// The arguments come as one JSON object on stdin, checked against the schema in tools.json; the output goes to stdout.
import { readFileSync } from 'node:fs'

const { a, b } = JSON.parse(readFileSync(0, 'utf8'))
console.log(JSON.stringify({ sum: a + b }))
