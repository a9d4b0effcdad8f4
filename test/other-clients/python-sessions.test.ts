import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { runPython, withoutPython } from './python.ts'

t.test('the Python clients make sessions, call in them, and bring files in and out', { skip: withoutPython }, async t => {
  const service = await createService(t, {
    files: { 'tools/bin/upper': '#!/bin/sh\ncat > /dev/null; tr a-z A-Z < in.txt > out.txt; echo {}' },
    tools: [{ name: 'upper', schema: { type: 'object' }, command: ['./tools/bin/upper'], permissions: ['read_repo', 'write_files'] }]
  })
  const seen = JSON.parse(await runPython('sessions.py', [], { TOOLYARD_URL: service.api.address, TOOLYARD_API_KEY: testKeys.admin })) as Record<string, unknown>
  const is = (title: string, field: string, wanted: unknown): void => { t.strictSame(seen[field], wanted, title) }

  is('a session is made', 'made', ['open', 20_000_000, null])
  is('a file is put', 'put', 9)
  is('a call in the session changes it', 'changed', 'SOME TEXT')
  is('and is listed', 'names', ['in.txt', 'out.txt'])
  t.type(seen['job'], 'string', 'a job is submitted in the session')
  is('a model\'s message is answered there', 'invoked', 1)
  is('a session that isn\'t there is told', 'refused_call', ['NOT_FOUND', 404])
  is('a body without a length is streamed', 'streamed', 6_553_600)
  is('a file is sent in pieces', 'whole', 196_608)
  is('and comes in pieces', 'pieces', [6_553_600, true])
  is('a path with a slash at the end is that of a directory', 'slash', ['VALIDATION_ERROR', 400])
  const content = 'The content of a file is a str, bytes, or a file that is open for reading bytes, not '
  is('what is no content of a file is refused in words', 'no_content', ['int', 'NoneType', 'dict', 'TextIOWrapper'].flatMap(type => [content + type, content + type]))
  const name = 'A name or an id in an address is a str, not '
  is('and so is what is no path or id', 'no_text', ['The path of a file is a str, not int', `${name}NoneType`, `${name}int`, `${name}int`])
  is('an empty list is no arguments', 'no_object', ['VALIDATION_ERROR', 400])
  is('what is too large is refused before it is all sent', 'too_large', ['QUOTA_EXCEEDED', 413])
  is('and also while it is sent', 'too_long', ['QUOTA_EXCEEDED', 413])
  is('a file that can\'t be read is no fault of the service', 'unreadable', 'the disk is asleep')
  is('an archive has all files', 'archived', ['from file', 'in.txt', 'large', 'out.txt'])
  is('an archive is unpacked', 'unpacked', { path: 'copy here', files: 1, directories: 0, bytes: 3 })
  is('its files are there', 'copied', 'xyz')
  is('a directory that is not empty stays', 'not_empty', ['CONFLICT', 409])
  is('and goes with all that is in it', 'gone', ['NOT_FOUND', 404])
  is('no path leads up', 'up', Array.from({ length: 4 }, () => ['VALIDATION_ERROR', null]))
  is('no id leads to another route', 'no_id', Array.from({ length: 16 }, () => ['VALIDATION_ERROR', null]))
  is('the session is in the list', 'listed', true)
  is('an operator reaches the shared workspace', 'shared', ['a/b #1?.txt'])
  is('the async client does the same', 'async_changed', 'MORE TEXT')
  is('also in pieces', 'async_pieces', 1_310_720)
  is('and with archives', 'async_unpacked', 3)
  is('it removes its session, and no other', 'async_removed', ['removing', 'open'])
  is('the session is removed', 'removed', 'removing')
})
