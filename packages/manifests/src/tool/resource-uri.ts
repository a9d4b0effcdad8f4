import { orElse } from '@toolyard/contract/terms'
/** A variable of a URI: its value is one part of the path, the host or the query, percent-encoded. */
const variable = /\{([^{}]*)\}/
export const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/
const scheme = /^[a-z][a-z0-9+.-]*:(?=.)/
/** Schemes of resources that aren't published by a manifest. */
const reserved = ['skill', 'workspace', 'http', 'https', 'file', 'data', 'javascript']

/** The URI of a resource, whose variables (`{name}`) are arguments. */
export interface ResourceUri {
  /** In their order; empty for a URI without any. */
  variables: readonly string[]
  /** Takes the variables from a URI; undefined for one that is another resource's. */
  match: (uri: string) => Record<string, string> | undefined
}

/** Reads the URI of a resource as a manifest has it. @throws an Error that says what is wrong with it. */
export function resourceUri (template: string): ResourceUri {
  const parts = template.split(variable)
  const texts = parts.filter((_, index) => index % 2 === 0)
  const variables = parts.filter((_, index) => index % 2 === 1)
  const own = scheme.exec(template)?.[0].slice(0, -1)
  if (own === undefined) throw new Error('must begin with a scheme of lower case letters, such as report:')
  if (reserved.includes(own)) throw new Error(`has the scheme ${own}, which means something else`)
  if (/[\s{}\p{Cc}]/u.test(texts.join(''))) throw new Error('holds white space, a control character or a brace')
  const wrong = variables.find(name => !variableName.test(name))
  if (wrong !== undefined) throw new Error(`has a variable ${JSON.stringify(wrong)}, whose name isn't letters, digits and _`)
  if (new Set(variables).size < variables.length) throw new Error('has the same variable twice')
  if (texts.slice(1, -1).includes('')) throw new Error('has two variables with nothing between them')
  return { variables, match: uri => values(uri, texts, variables) }
}

/** In linear time: a value ends where the text behind it begins, and holds none of the characters that part a URI. */
function values (uri: string, [first = '', ...texts]: readonly string[], variables: readonly string[]): Record<string, string> | undefined {
  if (!uri.startsWith(first)) return undefined
  const found: Record<string, string> = {}
  let at = first.length
  for (const [index, name] of variables.entries()) {
    const text = texts[index] ?? ''
    const isLast = index === variables.length - 1
    const end = isLast ? uri.length - text.length : uri.indexOf(text, at + 1)
    const value = end > at && uri.startsWith(text, end) ? decoded(uri.slice(at, end)) : undefined
    if (value === undefined) return undefined
    found[name] = value
    at = end + text.length
  }
  return at === uri.length ? found : undefined
}

function decoded (value: string): string | undefined {
  if (/[/?#]/.test(value)) return undefined
  return orElse(() => decodeURIComponent(value), undefined)
}
