import t from 'tap'
import { readJson } from '@toolyard/contract/terms'
import { argvOf, type Json } from './fixture.ts'

const invalid = (message: string): object => ({ code: 'INVALID_ARGUMENTS', message })
const wrongType = invalid('parameter a must be a string, number, or boolean')

interface Case {
  title: string
  mapping: Json[]
  /** Pairs of arguments and the argv or the error that they give. */
  cases: Array<[args: unknown, expected: unknown]>
}

const positional = { param: 'a' }
const flag = { param: 'a', kind: 'flag' }
const either = { param: 'a', kind: 'flagifboolean', flagIfTrue: '--overwrite', flagIfFalse: '--append' }

const table: Case[] = [
  { title: 'S14 the order of args is the order of argv', mapping: [{ param: 'b' }, flag, { param: 'a' }], cases: [[{ a: '1', b: '2' }, ['2', '--a', '1', '1']]] },
  { title: 'S15 param names the parameter', mapping: [{ param: 'b' }], cases: [[{ a: '1', b: '2' }, ['2']]] },
  {
    title: 'S16 an argument is positional, a flag, or a flag if a boolean says so',
    mapping: [{ param: 'a', kind: 'positional' }, flag, either],
    cases: [[{ a: 'true' }, ['true', '--a', 'true', '--overwrite']]]
  },
  { title: 'S17 the kind is positional by default', mapping: [positional], cases: [[{ a: 'x' }, ['x']]] },
  { title: 'S18 flag names the flag', mapping: [{ ...flag, flag: 'content' }], cases: [[{ a: 'x' }, ['--content', 'x']]] },
  { title: 'S19 a flag without a name has the name of the parameter', mapping: [flag, { ...flag, flag: null }], cases: [[{ a: 'x' }, ['--a', 'x', '--a', 'x']]] },
  { title: 'S20 a flag whose parameter is missing or null is left out with its value', mapping: [flag], cases: [[{}, []], [{ a: null }, []]] },
  { title: 'S21 flagIfTrue is emitted for true', mapping: [either], cases: [[{ a: true }, ['--overwrite']]] },
  { title: 'S22 flagIfFalse is emitted for false', mapping: [either], cases: [[{ a: false }, ['--append']]] },
  {
    title: 'SC7 true is true, that word in any case, or a whole number but 0; all else is not true',
    mapping: [either],
    cases: [
      ...['true', 'TRUE', 'True', 1, -1, 2].map((a): [Json, string[]] => [{ a }, ['--overwrite']]),
      ...['yes', '1', '', 'true ', 0, 2.5, [], {}, [true]].map((a): [Json, string[]] => [{ a }, ['--append']])
    ]
  },
  { title: 'X30 flagIfFalse is emitted for a parameter that is missing or null', mapping: [either], cases: [[{}, ['--append']], [{ a: null }, ['--append']]] },
  { title: 'SC7 a flag that is not set is not emitted', mapping: [{ param: 'a', kind: 'flagifboolean' }], cases: [[{ a: true }, []], [{ a: false }, []]] },
  {
    title: 'S23 normalizeNewlines turns literal \\n and \\t into a newline and a tab',
    mapping: [{ ...positional, normalizeNewlines: true }, { ...flag, normalizeNewlines: true }],
    cases: [[{ a: 'x\\ny\\tz' }, ['x\ny\tz', '--a', 'x\ny\tz']]]
  },
  { title: 'S23 newlines are not normalized by default', mapping: [positional, { ...positional, normalizeNewlines: null }], cases: [[{ a: 'x\\n' }, ['x\\n', 'x\\n']]] },
  {
    title: 'SC10 normalizing is plain replacement: \\r stays, and a backslash before \\n stays too',
    mapping: [{ ...positional, normalizeNewlines: true }],
    cases: [[{ a: '\\r' }, ['\\r']], [{ a: '\\\\n' }, ['\\\n']], [{ a: 5 }, ['5']]]
  },
  {
    title: 'SC5 a positional value that is missing or no scalar is refused',
    mapping: [positional],
    cases: [[{}, invalid('missing parameter: a')], [{ a: null }, wrongType], [{ a: ['x'] }, wrongType], [{ a: { x: 1 } }, wrongType]]
  },
  { title: 'SC5 an empty text is an empty argument', mapping: [positional, flag], cases: [[{ a: '' }, ['', '--a', '']]] },
  { title: 'SC5 a parameter that objects inherit is missing', mapping: [{ param: 'constructor' }], cases: [[{}, invalid('missing parameter: constructor')]] },
  {
    title: 'SC6 a flag passes its value as an argument of its own, false and an empty text too',
    mapping: [flag],
    cases: [[{ a: false }, ['--a', 'false']], [{ a: '' }, ['--a', '']], [{ a: [1] }, wrongType], [{ a: {} }, wrongType]]
  },
  { title: 'B16 a flag that is written with its dashes is passed as it is', mapping: [{ ...flag, flag: '-c' }, { ...flag, flag: '--deep' }], cases: [[{ a: '1' }, ['-c', '1', '--deep', '1']]] },
  {
    title: 'SC8 numbers and booleans are written as serde writes them',
    mapping: [positional],
    cases: [
      [1, '1'], [0, '0'], [1.5, '1.5'], [1000, '1000'], [9007199254740991, '9007199254740991'], [1e19, '10000000000000000000'],
      [2e19, '2e19'], [1.2345678901234568e29, '1.2345678901234568e29'], [0.00001, '0.00001'], [0.0000015, '1.5e-6'], [true, 'true'], [false, 'false']
    ].map(([a, text]): [Json, unknown] => [{ a }, [text]])
  },
  {
    title: 'X29 a number is passed as it was written',
    mapping: [positional],
    cases: ['1.0', '9007199254740993', '-1e2'].map((text): [Json, string[]] => [readJson(`{"a": ${text}}`) as Json, [text]])
  },
  {
    title: 'SC9 nothing is interpreted: no shell, no white space, no Unicode',
    mapping: [positional],
    cases: ['$(id);', 'a b', '*', '"quoted\'', 'line\nline', 'ä 🦔', '$a `b` \\'].map((a): [Json, string[]] => [{ a }, [a]])
  },
  { title: 'SC9 a NUL byte is refused', mapping: [flag], cases: [[{ a: 'x\0y' }, invalid('parameter a must not hold a NUL byte')]] },
  {
    title: 'SC9 a positional text that starts with - is refused, one that looks like a number too',
    mapping: [positional],
    cases: ['-rf', '--help', '-', '-5'].map((a): [Json, unknown] => [{ a }, { code: 'NOT_ALLOWED', message: 'parameter a must not start with "-"' }])
  },
  {
    title: 'SC9 a negative number is no option',
    mapping: [{ ...positional, normalizeNewlines: true }, { ...flag, allowDash: false }],
    cases: [[-5, '-5'], [-0.5, '-0.5'], [-2e19, '-2e19']].map(([a, text]): [Json, unknown] => [{ a }, [text, '--a', text]])
  },
  { title: 'SC9 allowDash lets a positional value start with -', mapping: [{ ...positional, allowDash: true }], cases: [[{ a: '-5' }, ['-5']]] },
  { title: 'SC9 the value of a flag may start with -, since the flag takes it', mapping: [flag], cases: [[{ a: '- item' }, ['--a', '- item']]] },
  { title: 'SC9 "allowDash": false refuses it for a flag too', mapping: [{ ...flag, allowDash: false }], cases: [[{ a: '-x' }, { code: 'NOT_ALLOWED', message: 'parameter a must not start with "-"' }]] },
  { title: 'SC11 parameters without a mapping are left out', mapping: [positional], cases: [[{ a: 'x', b: 'y', c: 'z' }, ['x']]] },
  {
    title: 'SC4 arguments that are no object are refused',
    mapping: [positional],
    cases: [[[], invalid('arguments must be an object')], ['x', invalid('arguments must be an object')], [null, invalid('arguments must be an object')]]
  }
]

for (const { title, mapping, cases } of table) {
  t.test(title, async t => {
    for (const [args, expected] of cases) t.same(await argvOf(t, mapping, args), expected, JSON.stringify(args))
  })
}
