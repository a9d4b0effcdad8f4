/** Texts of a size that are the worst for one way of reading or another. */
export function worstTexts (size: number): Record<string, string> {
  const fill = (part: string, length = size): string => part.repeat(Math.ceil(length / part.length)).slice(0, length)
  return {
    'equal letters': fill('a'),
    'line feeds': fill('\n'),
    CRLF: fill('\r\n'),
    'short lines': fill('a\n'),
    'lines of two kinds': fill('a\nb\n'),
    spaces: fill(' '),
    'spaces before a letter': `${fill(' ', size - 1)}x`,
    tabs: fill('\t'),
    'control characters': fill('\u0001'),
    quotes: fill('"'),
    backslashes: fill('\\'),
    'letters of two bytes': fill('é', size / 2),
    'letters of three bytes': fill('中', size / 3),
    'letters of four bytes': '😀'.repeat(size / 4),
    digits: fill('1'),
    'equals signs': fill('='),
    lists: `[${fill('[],', size - 3)}[]]`.replace(/,*\[?\[\]\]$/, ',[]]'),
    objects: `[${'{},'.repeat(size / 3 - 2)}{}]`,
    'lists in lists': `[${`${'['.repeat(90)}${']'.repeat(90)},`.repeat(size / 181 - 1)}0]`,
    numbers: `[${'0,'.repeat(size / 2 - 2)}0]`,
    'small numbers': `[${'1e-300,'.repeat(size / 7 - 2)}0]`,
    fields: `{${Array.from({ length: size / 12 }, (_, at) => `"k${at}":0`).join(',')}}`,
    'numbered fields': `{${Array.from({ length: size / 12 }, (_, at) => `"${at * 37}":0`).join(',')}}`,
    'objects of all shapes': `[${Array.from({ length: size / 18 }, (_, at) => `{"k${at}":${at}}`).join(',')}]`,
    'a line of JSON without end': `[${fill('"', size - 1)}`
  }
}
