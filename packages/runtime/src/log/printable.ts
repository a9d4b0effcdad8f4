/** Most lines: nothing in them does anything, or hides. */
const plain = /^[\n\t\x20-\x7e]*$/
/**
 * Characters that a terminal would take for a command, that turn the direction of writing, or show as nothing: in them, words for
 * models could stand that no person sees. One joiner or selector behind a letter or an emoji is a part of that.
 */
const unseen = new RegExp(`(?:${[
  '[\\p{Cc}\\p{Bidi_Control}\\u2028\\u2029](?<![\\n\\t])',
  '(?<![\\p{L}\\p{M}\\p{Emoji}])[\\u200c\\u200d]',
  '(?<!\\p{Emoji})\\ufe0f',
  '(?![\\u200c\\u200d\\ufe0f])\\p{Default_Ignorable_Code_Point}'
].join('|')})+`, 'gu')

/** Systems of CI that obey what a job prints, by a variable of their jobs. */
const obeyed = ['GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION'].some(name => process.env[name] !== undefined)
/**
 * What they take for a command, such as one that sets a variable for all later steps: GitHub at the beginning of a line behind
 * any white space, and each of them in the middle of one.
 */
const jobCommand = /^[^\S\n]*:(?=:)|#(?=#\w*\[)/gm

/**
 * A text for a terminal or a log, in which somebody else's text may stand: of manifests, exceptions, programs. What does
 * something, or can't be seen, is escaped as in JSON, so that JSON stays the same value.
 */
export function printable (text: string): string {
  const seen = plain.test(text) ? text : text.replace(unseen, escaped)
  return obeyed ? seen.replace(jobCommand, found => found.slice(0, -1) + escaped(found.slice(-1))) : seen
}

function escaped (hidden: string): string {
  let text = ''
  for (let at = 0; at < hidden.length; at++) text += `\\u${hidden.charCodeAt(at).toString(16).padStart(4, '0')}`
  return text
}
