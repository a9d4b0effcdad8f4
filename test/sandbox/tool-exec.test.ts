import t from 'tap'
import { createService } from '../support/service.ts'
import { withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()

void t.test('fault 12, fault 13, RC41 tool_exec over HTTP runs its program in the box', { skip }, async t => {
  const outside = t.testdir({ secret: 'secret' })
  const { client } = await createService(t, { env: { SANDBOX: 'require', TOOL_EXEC_ENABLED: '1', TOOL_EXEC_ALLOWLIST: 'sh' } })
  const shell = async (script: string): Promise<unknown> => await client.call('tool_exec', { command: 'sh', args: ['-c', script] })

  t.match(await shell('cat README.md; echo changed > README.md; cat README.md'), { ok: true, output: { stdout: '# A workspace\nchanged\n' } }, 'the workspace is there, and may be written')
  t.match(await shell('[ -f /dev/stdin ] && wc -c < /dev/stdin'), { ok: true, output: { stdout: '0\n' } }, 'its input is an empty file of its own, not a device of the machine')
  t.match(await shell(`cat ${outside}/secret`), { ok: false, error: { code: 'TOOL_FAILED' } })
  t.match(await shell('cat /etc/shadow'), { ok: false, error: { code: 'TOOL_FAILED' } })
  t.match(await shell('echo x > /usr/bin/planted'), { ok: false, error: { code: 'TOOL_FAILED' } })
  t.match(await shell('ls -d /proc/[0-9]* | wc -l'), { ok: true, output: { stdout: /^[1-5]\n$/ } }, 'it sees its own processes alone')
  t.match(await shell('tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "'), { ok: true, output: { stdout: 'lo\n' } })
})
