import t from 'tap'
import { loadRegistry, skillNeeds, type SkillNeeds } from '@toolyard/manifests'
import { writeFiles } from '../support/files.ts'

async function needsOf (base: string, files: Record<string, string>): Promise<SkillNeeds> {
  writeFiles(base, files)
  const [skill] = (await loadRegistry({ manifests: [base], builtins: false, skills: { path: '' } })).skills()
  if (skill === undefined) throw new Error('there is no skill')
  return await skillNeeds(skill)
}

t.test('modules of a skill itself, and imports in texts of a program, are not what it needs of a machine', async t => {
  const base = t.testdir({})
  const files = {
    'SKILL.md': '---\nname: a\ndescription: d\n---\nx\n',
    // No directory has an __init__.py.
    'ooxml/scripts/validation/docx.py': 'import lxml.etree\n',
    'scripts/document.py': '"""\nfrom skills.a.scripts.document import Document\n"""\nfrom ooxml.scripts.validation.docx import Validator\nimport defusedxml, os\n\'\'\'\nimport never\n\'\'\'\n',
    'scripts/open.py': '"""import\nimport pandas\n'
  }
  t.same((await needsOf(base, files)).python, ['defusedxml', 'lxml', 'os', 'pandas'])
})

t.test('a module that has the name of one in a package of the skill is needed all the same', async t => {
  const { python } = await needsOf(t.testdir({}), {
    'SKILL.md': '---\nname: a\ndescription: d\n---\nx\n',
    'scripts/checks/__init__.py': 'from .slides import check\n',
    'scripts/checks/slides.py': 'import words\n',
    'scripts/checks/words.py': '',
    'scripts/shared.py': '',
    'scripts/run.py': 'import slides, shared\n'
  })
  t.same(python, ['slides'])
})

t.test('what the text of a skill tells to run, to import and to install is needed, and so are commands of its shell scripts', async t => {
  const { programs, python, node } = await needsOf(t.testdir({}), {
    'SKILL.md': '---\nname: a\ndescription: d\n---\n```bash\npython -m reader x\n```\n```python\nimport tables as t\nfrom core.words import text\n```\n```\nimport never\n```\nInstall `npm install -g one @two/three@1 four`.\n',
    'core/words.py': '',
    'scripts/make.sh': 'set -e\n  pnpm add x\nnpx y\necho git\n'
  })
  t.same({ programs, python, node }, { programs: ['npx', 'pnpm', 'python', 'python3'], python: ['reader', 'tables'], node: ['@two/three', 'four', 'one'] })
})
