import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const toolyard = fileURLToPath(new URL('../../../node_modules/.bin/toolyard', import.meta.url))

await t.test('--help lists the commands, and each command has help of its own', async t => {
  const overview = await run('--help')
  t.equal(overview.status, 0)
  for (const name of ['start', 'api', 'worker']) {
    t.match(overview.stdout, new RegExp(`^  ${name} `, 'm'))
    const { status, stdout } = await run(name, '--help')
    t.equal(status, 0)
    t.match(stdout, `Usage: toolyard ${name}`)
  }
})

await t.test('a missing or unknown command ends with status 2 and the list', async t => {
  for (const args of [[], ['strat'], ['constructor']]) {
    const { status, stderr, stdout } = await run(...args)
    t.equal(status, 2)
    t.match(stderr, /Usage: toolyard COMMAND[\s\S]* {2}start/)
    t.equal(stdout, '')
  }
})

await t.test('an option or an argument that a command does not know ends with status 2', async t => {
  for (const [path, ...rest] of [['start', '--port', '80'], ['worker', 'two'], ['jobs show'], ['files archive']]) {
    const { status, stderr } = await run(...(path ?? '').split(' '), ...rest)
    t.equal(status, 2)
    t.match(stderr, `toolyard: ${path ?? ''}: `)
  }
})

interface Result {
  status: number
  stdout: string
  stderr: string
}

function run (...args: string[]): Promise<Result> {
  return new Promise(resolve => {
    const child =
      execFile(process.execPath, [toolyard, ...args], (_, stdout, stderr) => { resolve({ status: child.exitCode ?? -1, stdout, stderr }) })
  })
}
