import type { Statistics } from '@toolyard/contract'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { bundleOf, createService } from '../support/service.ts'
import { python } from '../python/fixture.ts'
import { withoutBox } from './boxed-tools.ts'

const skip = python.skip || await withoutBox()
const burn = 'until = time.process_time() + 1.5\nwhile time.process_time() < until: pass\n'

void t.test('the processor time of commands and Python tools is counted by tool, and what only waits uses little', { skip }, async t => {
  const command = (name: string, body: string): string => `#!/usr/bin/python3\nimport sys, time\nsys.stdin.read()\n${body}print('{}')\n# ${name}\n`
  const service = await createService(t, {
    files: {
      'tools/bin/busy': command('busy', burn),
      'tools/bin/idle': command('idle', 'time.sleep(2)\n'),
      'tools/bin/endless': command('endless', 'while True: pass\n'),
      'bundle/burn.py': `import time\nfrom toolyard import Tool\n\nclass Burn(Tool):\n    def execute(self):\n${burn.replace(/^(?=.)/gm, '        ')}        return 1\n`,
      'bundle/manifest.json': bundleOf({ name: 'busy_python', description: 'Busy', module: 'burn', inputs: {} })
    },
    tools: [
      ...['busy', 'idle'].map(name => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`] })),
      { name: 'endless', schema: { type: 'object' }, command: ['./tools/bin/endless'], timeoutSec: 3 }
    ],
    manifests: ['tools.json', 'bundle/manifest.json']
  })
  const names = ['busy', 'idle', 'endless', 'busy_python']
  const { results } = await service.client.batch(names.map(name => ({ call_id: name, name, arguments: {} })), { wait_ms: 60_000 })
  t.same(results.map(({ ok }) => ok), [true, true, false, true], JSON.stringify(results))
  let used = new Map<string | null, number>()
  await waitFor('all are counted', async () => {
    const { body } = await service.client.request<Statistics>('/v1/stats')
    used = new Map(body.usage.map(({ tool, processor_seconds: seconds }) => [tool, seconds]))
    return names.every(name => used.has(name))
  })
  const between = (name: string, least: number, most: number): void => {
    const seconds = used.get(name) ?? 0
    t.ok(seconds >= least && seconds < most, `${name} used ${seconds} s`)
  }
  between('busy', 0.9, 3)
  between('busy_python', 0.9, 3)
  // How much it gets in its 3 s is the machine's.
  between('endless', 0.03, 5)
  between('idle', 0, 0.6)
})
