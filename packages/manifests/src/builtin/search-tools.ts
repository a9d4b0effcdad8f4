import { closedObject, type BuiltinDeclaration } from './declaration.ts'

export const toolsFileSearch: BuiltinDeclaration = {
  name: 'tools_file_search',
  jobType: 'tools.file_search',
  description: 'Search files by path/name under workspace.',
  timeoutSec: 45,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: closedObject({
    query: { type: 'string', description: 'Part of the path, in any case.' },
    path: { type: 'string', description: 'Directory to search; the workspace when left out.' },
    max_results: { type: 'integer', minimum: 1, maximum: 200 },
    include_hidden: { type: 'boolean' },
    include_ignored: { type: 'boolean', description: 'Also what .gitignore files name.' },
    glob: { type: 'string', description: 'Only paths that match, such as *.ts or src/**/*.md.' },
    cursor: { type: 'string', description: 'next_cursor of the page before.' }
  }, ['query'])
}

export const toolsFindInFiles: BuiltinDeclaration = {
  name: 'tools_find_in_files',
  jobType: 'tools.find_in_files',
  description: 'Search the content of files under workspace for a text or a regular expression (RE2 syntax: no look-around, no back references). Returns path, line, column and text of each line that matches.',
  timeoutSec: 60,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: closedObject({
    query: { type: 'string', minLength: 1, maxLength: 1_000, description: 'What to look for, within one line.' },
    path: { type: 'string', description: 'Directory to search; the workspace when left out.' },
    files: { type: 'array', items: { type: 'string' }, maxItems: 200, description: 'Search only these files.' },
    regex: { type: 'boolean', default: false, description: 'Whether query is a regular expression.' },
    case_sensitive: { type: 'boolean', default: false },
    context_lines: { type: 'integer', minimum: 0, maximum: 10, description: 'Lines to show before and after each match.' },
    glob: { type: 'string', description: 'Only files that match, such as *.ts or src/**/*.md.' },
    include_hidden: { type: 'boolean' },
    include_ignored: { type: 'boolean', description: 'Also what .gitignore files name.' },
    max_results: { type: 'integer', minimum: 1, maximum: 500 },
    cursor: { type: 'string', description: 'next_cursor of the page before.' }
  }, ['query'])
}
