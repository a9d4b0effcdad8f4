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

await t.test('with a Node.js that is too old, the program says which one it needs', async t => {
  const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.2.9' } })"
  const { status, stderr } = await runNode('--import', `data:text/javascript,${encodeURIComponent(older)}`, toolyard, '--version')
  t.equal(status, 1)
  t.match(stderr, /^Toolyard needs Node\.js 20\.3 or newer; this is 20\.2\.9 \(.+\)\.\nGet one at https:\/\/nodejs\.org\n$/)
})

await t.test('help of a command below another one is its own, and help of a word that is no command names it', async t => {
  t.match(await run('help', 'jobs', 'list'), { status: 0, stdout: /^Usage: toolyard jobs list / })
  t.match(await run('help', 'call', 'add'), { status: 0, stdout: /^Usage: toolyard call / })
  t.match(await run('help', 'strat'), { status: 2, stdout: '', stderr: "unknown command 'strat'\n(Did you mean start?)" })
  t.match(await run('help', 'jobs', 'lst'), { status: 2, stdout: '', stderr: "toolyard: jobs: unknown command 'lst'\n(Did you mean list?)" })
})

await t.test('a key of each role is made for the settings, and the help names all roles', async t => {
  for (const role of ['read', 'approver', 'admin']) {
    t.match(JSON.parse((await run('keys', 'new', '--role', role)).stdout), { role })
    for (const command of ['new', 'add']) t.match((await run('keys', command, '--help')).stdout, role)
  }
  t.match(await run('keys', 'new', '--role', 'boss'), { status: 2, stderr: "--role must be one of read, approver, admin, not 'boss'" })
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
  return runNode(toolyard, ...args)
}

function runNode (...args: string[]): Promise<Result> {
  return new Promise(resolve => {
    const child =
      execFile(process.execPath, args, (_, stdout, stderr) => { resolve({ status: child.exitCode ?? -1, stdout, stderr }) })
  })
}
