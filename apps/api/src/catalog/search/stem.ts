/** An English word without its ending; nothing is taken that would make two words of one. */
export function stemOf (word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  const single = word.replace(/ies$/, 'y').replace(/(ss|x|ch|sh)es$/, '$1').replace(/([^su])s$/, '$1')
  const stem = single.length < 5 ? single : single.replace(/(?:ation|ating|ated|ate|ing|ed|ee|er|or|ion|ment|al|ly)$/, '')
  const kept = stem.length >= 3 ? stem : single
  return kept.replace(/([^aeiou])\1$/, '$1').replace(/(?<=..)e$/, '').replace(/(?<=..)y$/, 'i')
}
