import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { symlinkSync } from 'node:fs'
import t from 'tap'
import { runToolyard, toolyardProgram } from './toolyard.ts'

t.test('completion offers commands, subcommands, options and rules that begin with the last word', async t => {
  for (const [words, found] of [[['va'], ['validate']], [['jobs', ''], ['answer', 'cancel', 'list', 'logs', 'promote', 'remove', 'retry', 'show', 'submit']], [['start', '--'], ['--help', '--strict']], [['explain', 'A31'], ['A31']], [['validate', 'x'], []]] as const) {
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

/** How each shell is made to complete without a terminal, behind the script. */
const asked = {
  // Instead of zsh's own completion the words are printed.
  zsh: {
    before: 'compdef () { :; }; compadd () { print -rl -- "$' + '{@[2,-1]}"; }; _files () { print files; }',
    after: 'words=(toolyard jobs l); CURRENT=3; _toolyard; words=(toolyard validate x); CURRENT=3; _toolyard',
    args: ['-f'],
    found: ['list', 'logs', 'files']
  },
  fish: { before: '', after: 'complete -C "toolyard jobs lo"; complete -C "toolyard valid"', args: ['--no-config'], found: ['logs', 'validate'] }
}

for (const [shell, { before, after, args, found }] of Object.entries(asked)) {
  const missing = spawnSync(shell, ['--version']).error === undefined ? false : `${shell} is not installed`
  t.test(`${shell} completes with the script that completion prints`, { skip: missing }, async t => {
    const bin = t.testdir()
    symlinkSync(toolyardProgram, join(bin, 'toolyard'))
    const { stdout: script } = await runToolyard(['completion', shell])
    const { stdout, stderr } = spawnSync(shell, [...args, '-c', [before, script, after].join('\n')], {
      cwd: bin, encoding: 'utf8', env: { HOME: bin, PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter) }
    })
    t.strictSame(stdout.split('\n').filter(line => line !== ''), found, stderr)
  })
}

t.test('completion of another shell is a usage error that names the known shells', async t => {
  t.match(await runToolyard(['completion', 'csh']), { status: 2, stderr: "there is no script for 'csh': name bash, zsh, fish" })
})
