import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { symlinkSync } from 'node:fs'
import t from 'tap'
import { runToolyard, toolyardProgram } from './toolyard.ts'

t.test('completion knows commands below commands, options and rules, by what is written of the last word', async t => {
  for (const [words, found] of [[['va'], ['validate']], [['jobs', ''], ['cancel', 'list', 'logs', 'retry', 'show']], [['start', '--'], ['--help', '--strict']], [['explain', 'A31'], ['A31']], [['validate', 'x'], []]] as const) {
    const { stdout, status } = await runToolyard(['complete', '--', ...words])
    t.equal(status, 0)
    t.strictSame(stdout.split('\n').filter(word => word !== ''), found, words.join(' '))
  }
})

t.test('bash completes with the script that completion prints', async t => {
  const bin = t.testdir()
  symlinkSync(toolyardProgram, join(bin, 'toolyard'))
  const { stdout: script } = await runToolyard(['completion', 'bash'])
  const line = 'COMP_WORDS=(toolyard jobs l); COMP_CWORD=2; _toolyard; IFS=,; echo "$' + '{COMPREPLY[*]}"'
  const { stdout, status } = spawnSync('bash', ['--norc', '-c', `${script}\n${line}`], { encoding: 'utf8', env: { PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter) } })
  t.equal(status, 0)
  t.equal(stdout, 'list,logs\n')
})

for (const [shell, check] of [['zsh', '-n'], ['fish', '--no-execute']] as const) {
  const missing = spawnSync(shell, ['--version']).error === undefined ? false : `${shell} is not installed`
  t.test(`the script that completion prints can be read by ${shell}`, { skip: missing }, async t => {
    const { stdout: script } = await runToolyard(['completion', shell])
    t.equal(spawnSync(shell, [check, '/dev/stdin'], { input: script }).status, 0)
  })
}

t.test('completion of another shell is a misuse that names those that there are', async t => {
  t.match(await runToolyard(['completion', 'csh']), { status: 2, stderr: "there is no script for 'csh': name bash, zsh, fish" })
})
