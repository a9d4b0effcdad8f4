import { bundleOf } from '../support/service.ts'

/** A tool that makes a span of its own: it sends it to the collector whose address is its argument. */
const tracing = `#!/usr/bin/env node
let text = ''
process.stdin.on('data', chunk => { text += chunk })
process.stdin.on('end', async () => {
  const { collector } = JSON.parse(text)
  const { TRACEPARENT, TRACESTATE } = process.env
  const [, traceId, parentSpanId] = (TRACEPARENT ?? '').split('-')
  if (collector !== undefined) {
    const now = String(BigInt(Date.now()) * 1000000n)
    const span = { name: 'own work', traceId, spanId: '00000000000000aa', parentSpanId, kind: 1, startTimeUnixNano: now, endTimeUnixNano: now }
    const service = { key: 'service.name', value: { stringValue: 'the tool' } }
    const body = JSON.stringify({ resourceSpans: [{ resource: { attributes: [service] }, scopeSpans: [{ spans: [span] }] }] })
    await fetch(collector + '/v1/traces', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  }
  process.stdout.write(JSON.stringify({ TRACEPARENT, TRACESTATE }))
})
`
const python = `import os
from toolyard import Tool

class Tracing(Tool):
    def execute(self):
        return {"TRACEPARENT": os.environ.get("TRACEPARENT"), "TRACESTATE": os.environ.get("TRACESTATE")}
`
const failing = '#!/bin/sh\necho "a secret of the tool" >&2\nexit 3\n'
const skill = {
  tools: [{ name: 'show_trace', description: 'Shows where it belongs', parameters: { type: 'object', properties: {} } }],
  allowlist: { sh: [] },
  execution: [{ tool: 'show_trace', binary: 'printenv', subcommand: 'TRACEPARENT', args: [] }]
}

/** Files of tools that tell what they know of the trace. */
export const traceFiles: Record<string, string> = {
  'tools/bin/tracing': tracing,
  'tools/bin/failing': failing,
  'bundle/mods/tracing.py': python,
  'bundle/manifest.json': bundleOf({ name: 'traced_python', description: 'Tells its trace', module: 'mods.tracing', inputs: {} }),
  'skills/tracing/SKILL.md': '---\nname: tracing\ndescription: Shows traces\n---\nUse show_trace.\n',
  'skills/tracing/tools.json': JSON.stringify({ ...skill, allowlist: { printenv: ['TRACEPARENT'] } })
}

export const traceManifests = ['tools.json', 'bundle/manifest.json', 'skills']

export const traceEntries = [
  { name: 'traced', description: 'Makes a span of its own', schema: { type: 'object' }, command: ['./tools/bin/tracing'], permissions: ['network'] },
  { name: 'failing', description: 'Fails', schema: { type: 'object' }, command: ['./tools/bin/failing'] }
]
