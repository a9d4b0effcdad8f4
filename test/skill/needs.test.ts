import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { loadRegistry, skillNeeds } from '@toolyard/manifests'

t.test('modules of a skill itself, and imports in texts of a program, are not what it needs of a machine', async t => {
  const base = t.testdir({})
  const files = {
    'SKILL.md': '---\nname: a\ndescription: d\n---\nx\n',
    // No directory has an __init__.py.
    'ooxml/scripts/validation/docx.py': 'import lxml.etree\n',
    'scripts/document.py': '"""\nfrom skills.a.scripts.document import Document\n"""\nfrom ooxml.scripts.validation.docx import Validator\nimport defusedxml, os\n\'\'\'\nimport never\n\'\'\'\n',
    'scripts/open.py': '"""import\nimport pandas\n'
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), text)
  }
  const [skill] = (await loadRegistry({ manifests: [base], builtins: false, skills: { path: '' } })).skills()
  if (skill === undefined) throw new Error('there is no skill')
  t.same((await skillNeeds(skill)).python, ['defusedxml', 'lxml', 'os', 'pandas'])
})
