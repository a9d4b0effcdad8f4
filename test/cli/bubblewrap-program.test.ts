import { ensureBubblewrap } from '@toolyard/runtime/install'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'

await t.test('bubblewrap is taken from the PATH', { skip }, async t => {
  const bin = t.testdir()
  program(bin, 'bwrap', '')
  const said: string[] = []
  t.ok(await ensureBubblewrap({ env: { PATH: bin }, say: line => { said.push(line) } }))
  t.strictSame(said, [])
})

await t.test('root installs it without a question where it is missing', { skip }, async t => {
  const { bin, said, options } = machine(t)
  t.ok(await ensureBubblewrap(options))
  t.ok(existsSync(join(bin, 'bwrap')))
  t.match(said, [/No bubblewrap here: installing one with apt-get \(TOOLYARD_NO_INSTALL=1 switches this off\)/])
})

await t.test('the start goes on without it, and says what that means', { skip }, async t => {
  const { bin, said, options } = machine(t)
  t.notOk(await ensureBubblewrap({ ...options, env: { ...options.env, TOOLYARD_NO_INSTALL: '1' } }))
  t.notOk(existsSync(join(bin, 'bwrap')))
  t.match(said, [/tools will run without a sandbox.*TOOLYARD_NO_INSTALL keeps/])
})

await t.test('a user who isn\'t root gets the commands that install it', { skip }, async t => {
  const { bin, said, options } = machine(t)
  t.notOk(await ensureBubblewrap({ ...options, host: { root: false, systemd: false } }))
  t.notOk(existsSync(join(bin, 'bwrap')))
  t.strictSame(said, [[
    'There is no bubblewrap, so tools will run without a sandbox.',
    'Ways to get it:',
    '  Debian, Ubuntu  sudo apt-get install bubblewrap',
    '  Fedora, RHEL    sudo dnf install bubblewrap',
    '  Alpine          sudo apk add bubblewrap'
  ].join('\n')])
})

/** A machine whose apt-get installs a bwrap of one line. */
function machine (t: Test): { bin: string, said: string[], options: Parameters<typeof ensureBubblewrap>[0] } {
  const bin = t.testdir()
  const said: string[] = []
  program(bin, 'apt-get', `case "$*" in install*bubblewrap) echo '#!/bin/sh' > ${bin}/bwrap; /bin/chmod 755 ${bin}/bwrap;; esac`)
  return { bin, said, options: { env: { PATH: bin }, say: line => { said.push(line) }, host: { root: true, systemd: false } } }
}

function program (directory: string, name: string, body: string): void {
  writeFileSync(join(directory, name), `#!/bin/sh\n${body}\n`)
  chmodSync(join(directory, name), 0o755)
}
