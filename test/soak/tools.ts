/* eslint-disable no-template-curly-in-string -- they are placeholders of workflows */
import { hasPython } from '../support/python.ts'

/*
 * Each run of a tool appends its mark to the file `runs` in the workspace before it does anything else.
 * Marks of a workflow's steps are its own with `.a`, `.b` and `.c`.
 */

const stamp = (rest: string): string => `#!/bin/sh
read -r line
mark=\${line#*\\"mark\\":\\"}; mark=\${mark%%\\"*}
sec=\${line#*\\"sec\\":\\"}; sec=\${sec%%\\"*}
[ "$sec" = "\${line%%\\"*}" ] && sec=0
echo "$mark" >> runs
${rest}
`

const recorder = `import os, time
from toolyard import Tool


class RecordTool(Tool):
    def execute(self, mark, ms=50):
        with open("runs", "a") as runs:
            runs.write(mark + "\\n")
        with open("serial", "a") as trace:
            trace.write("start " + mark + "\\n")
        time.sleep(ms / 1000)
        with open("serial", "a") as trace:
            trace.write("end " + mark + "\\n")
        return mark
`

const serialManifest = {
  schema_version: '1.0',
  metadata: { name: 'soak', description: 'A bundle of the soak' },
  tools: [{
    name: 'record',
    description: 'Records when it runs',
    module: 'recorder',
    inputs: { mark: { type: 'string', required: true }, ms: { type: 'integer' } },
    runtime: { concurrency: 'serial' }
  }]
}

const step = (name: string, tool: string, after: string): string => `      - {name: ${name}, tool: ${tool}, arguments: {mark: "\${run}.${name}", sec: "0.2"${after}}}`
const workflows = ['again', 'once', 'flaky'].map(tool => `
  ${tool}:
    params: {run: none}
    steps:
${step('a', 'once', '')}
${step('b', tool, ', after: "${a.done}"')}
${step('c', 'once', ', after: "${b.done}"')}
    output: "\${c.done}"`).join('')

export const soakFiles = {
  'tools/bin/stamp': stamp('[ "$sec" = 0 ] || sleep "$sec"\necho \'{"done":true}\''),
  'tools/bin/flaky': stamp('[ $(($(date +%N | sed s/^0*//) / 1000 % 3)) = 0 ] || { echo "not this time" >&2; exit 1; }\necho \'{"done":true}\''),
  'tools/bin/talks': stamp('n=0\nwhile [ $n -lt 40 ]; do n=$((n + 1)); echo "line $n" >&2; sleep 0.05; done\necho \'{"done":true}\''),
  'tools/bin/large': stamp('head -c 60000 /dev/zero | tr "\\0" x'),
  'tools/bin/forks': stamp('(setsid sleep 600 &) ; sleep 600'),
  'tools/bin/asks': stamp('[ -z "$TOOLYARD_ANSWER" ] || exec tail -n 1 "$TOOLYARD_ANSWER"\necho \'{"$ask":{"text":"Who?","schema":{"type":"object"}}}\''),
  // Names that are no UTF-8, of files and directories. Nobody counts its runs.
  'tools/bin/odd': '#!/bin/sh\nf=$(printf "\\377\\376"); mkdir -p "$f/$f"; echo x > "$f/$f/$f"; touch "odd$f"; echo "{}"\n',
  'workspace/workflows.yaml': `workflows:${workflows}\n`,
  ...(hasPython() ? { 'bundle/recorder.py': recorder, 'bundle/manifest.json': JSON.stringify(serialManifest) } : {})
}

export const soakManifests = ['tools.json', ...(hasPython() ? ['bundle/manifest.json'] : [])]

const schema = { type: 'object', properties: { mark: { type: 'string' }, sec: { type: 'string' } }, required: ['mark'] }
const entry = (name: string, program: string, rest: object = {}): object => ({ name, description: name, schema, command: [`./tools/bin/${program}`], timeoutSec: 20, ...rest })

export const soakTools = [
  entry('once', 'stamp'),
  entry('again', 'stamp', { idempotent: true }),
  entry('flaky', 'flaky'),
  // Nobody decides about some of them.
  entry('held', 'stamp', { approval: { expires_sec: 60 } }),
  entry('asks', 'asks', { asks: true }),
  entry('talks', 'talks'),
  entry('large', 'large'),
  { ...entry('odd', 'odd', { permissions: ['write_files'] }), schema: { type: 'object' } },
  // Runs until its time is over, with a grandchild that leaves its session.
  entry('forks', 'forks', { timeoutSec: 2 })
]

/** A tool whose runs are counted. */
export type SoakTool = 'once' | 'again' | 'flaky' | 'talks' | 'large' | 'forks' | 'record' | 'held' | 'asks'
/** Those that can be called here, and end by themselves. */
export const toolNames: readonly SoakTool[] = ['once', 'again', 'flaky', 'talks', 'large', 'forks', ...hasPython() ? ['record' as const] : []]
