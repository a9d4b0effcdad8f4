import { jsonOption, type Command } from '../terminal/command.ts'
import { print } from '../terminal/terminal.ts'

/** `toolyard init`: tools of one's own to start from. */
export const init: Command = {
  name: 'init',
  summary: 'Write tools of your own to start from, a test of them, and an .env',
  help: `Writes into the working directory, and overwrites nothing:
  tools.json        three tools of your own
  tools/bin/        their programs: in shell, Node and Python
  tools/test/       a test of them: node --test tools/test/tools.test.mjs
  .env              the settings of toolyard start, and a new API key (mode 0600)
  .gitignore        what doesn't belong into a repository, unless there is one`,
  options: [jsonOption],
  run: async ({ options }) => {
    const { writeProject } = await import('../init/write-project.ts')
    const made = await writeProject(process.cwd())
    if (options['json'] === true) print(JSON.stringify({ ok: true, made }, null, 2))
    else print([...made.map(path => `made ${path}`), '', 'Next:', '  node --test tools/test/tools.test.mjs  runs your tools by themselves', '  npx toolyard start                     serves them', '  npx toolyard call add --arg a=2 --arg b=3'].join('\n'))
  }
}
