import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runToolyard } from '../cli/toolyard.ts'

t.test('validate says what a skill lacks here with a command that installs it, and that LibreOffice needs a Unix socket', async t => {
  const dir = t.testdir({ bin: {}, sheets: { scripts: {} } })
  writeFileSync(join(dir, 'sheets/SKILL.md'), '---\nname: sheets\ndescription: Sheets.\n---\n```python\nimport no_such_module\n```\nRun `npm install -g no-such-package`.\n```bash\nsoffice --headless x\n```\n')
  writeFileSync(join(dir, 'sheets/scripts/a.sh'), 'echo\n')
  for (const [name, text] of Object.entries({ soffice: 'exit', python3: 'echo no_such_module' })) writeFileSync(join(dir, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  mkdirSync(join(dir, 'work'))
  const validate = async (layer: object): Promise<string> => {
    writeFileSync(join(dir, 'layer.json'), JSON.stringify({ tools: [{ skill: 'sheets', ...layer }] }))
    return (await runToolyard(['validate', join(dir, 'sheets'), join(dir, 'layer.json')], { cwd: join(dir, 'work'), env: { PATH: `${join(dir, 'bin')}:${process.env['PATH'] ?? ''}` } })).stdout
  }
  const plain = await validate({})
  t.match(plain, /skill "sheets": it uses LibreOffice, which waits for a Unix socket/)
  t.match(plain, /lacks no_such_module \(Python\), no-such-package \(Node\)/)
  t.match(plain, /python3 -m venv --system-site-packages DIR && DIR\/bin\/pip install no_such_module, and write the absolute path of DIR as "python"/)
  t.match(plain, /npm install -g no-such-package/)
  const given = await validate({ unixSockets: true, python: join(dir, 'venv') })
  t.notMatch(given, /Unix socket/)
  t.match(given, /venv\/bin\/pip install no_such_module/)
})
