import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createService } from '../support/service.ts'
import { withoutBox } from '../sandbox/boxed-tools.ts'
import { waitFor } from '../support/condition.ts'

const skip = await withoutBox()

/** Tells how long ago its box began, in hundredths of a second, and its arguments. */
const tool = `#!/bin/sh
begun=$(cut -d' ' -f22 /proc/1/stat)
read -r line || :
read -r now _ < /proc/uptime
printf '{"age": %s, "given": %s}' "$(awk "BEGIN { print int($now * 100 - $begun) }")" "$line"
`

interface Result { ok: boolean, output: { age: number, given: unknown } }

void t.test('a tool whose entry says warm is served by a process that waited, also after its program has changed', { skip }, async t => {
  const service = await createService(t, {
    files: { 'tools/bin/aged.sh': tool },
    tools: [{ name: 'aged', description: 'Tells its age', command: ['./tools/bin/aged.sh'], warm: 2 }]
  })
  const call = async (given: object): Promise<Result> => {
    const { results: [result] } = await service.client.batch([{ call_id: 'c', name: 'aged', arguments: given }])
    return result as unknown as Result
  }
  let count = 0
  await waitFor('a process that waited for a second serves', async () => {
    const begun = performance.now()
    const { ok, output } = await call({ count: ++count })
    t.strictSame([ok, output.given], [true, { count }])
    const took = performance.now() - begun
    return output.age * 10 > took + 1_000 ? true : (await new Promise(resolve => { setTimeout(resolve, 1_500) }), false)
  })
  writeFileSync(join(service.dir, 'tools/bin/aged.sh'), "#!/bin/sh\nread -r line\necho '\"changed\"'\n")
  t.match(await call({}), { ok: true, output: 'changed' })
})
