import { errorCode, asError, isRecord } from '@toolyard/contract/terms'
import { FileFault, readFileBytes } from '../../document/manifest-file.ts'
import type { DocumentPath, Finding } from '../../finding/finding.ts'
import type { Remark } from '../../finding/finding-list.ts'
import type { PolicyRule } from '../../tool/policy-rule.ts'
import type { JsonSchema } from '../../tool/tool.ts'
import { argumentTypes, type ArgumentType } from './argument-types.ts'
import { isPolicyFile } from './definition.ts'
import { expressionFault, loadCel } from './expression.ts'

const fix = 'Correct the expression; docs/approvals.md says what it can be about. Numbers are doubles: in a list write 5.0.'

export async function policyRemarks (rules: readonly PolicyRule[], parameters: JsonSchema, path: DocumentPath): Promise<Remark[]> {
  return rules.length === 0 ? [] : await remarks(rules, argumentTypes(parameters), [...path, 'policy'])
}

/** Without rules where the policy file can't be used, which is a finding. */
export interface PolicyReading {
  rules: readonly PolicyRule[]
  findings: Finding[]
}

export async function readPolicyFile (file: string): Promise<PolicyReading> {
  const fault = (message: string, fix: string, path: DocumentPath = []): PolicyReading => (
    { rules: [], findings: [{ severity: 'error', whole: true, file, rule: 'policy/rule', path, message, fix }] }
  )
  let text: string
  try {
    text = (await readFileBytes(file)).toString()
  } catch (error) {
    if (error instanceof FileFault) return fault(error.message, 'Correct POLICY_FILE: it names a file of JSON.')
    return fault(`can't be read: ${errorCode(error) ?? asError(error).message}`, 'Correct POLICY_FILE, or make the file readable.')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return fault(`is no JSON: ${asError(error).message}`, 'Correct the JSON.')
  }
  if (!isPolicyFile(value)) return fault('is no list of rules', 'Write [{"when": "...", "then": "deny", "reason": "..."}]; docs/approvals.md has all fields.')
  const rules = isRecord(value) ? value.policy : value
  const found = await remarks(rules, 'map<string, dyn>', isRecord(value) ? ['policy'] : [])
  return { rules: found.length > 0 ? [] : rules, findings: found.map(remark => ({ ...remark, whole: true, file })) }
}

async function remarks (rules: readonly PolicyRule[], args: ArgumentType, path: DocumentPath): Promise<Remark[]> {
  if (rules.length === 0) return []
  const cel = await loadCel()
  return rules.flatMap(({ when }, index): Remark[] => {
    const fault = expressionFault(cel, when, args)
    const place = [...path, index, 'when']
    return fault === undefined ? [] : [{ severity: 'error', rule: 'policy/rule', path: place, message: `${placeText(place)} ${fault}`, fix }]
  })
}

function placeText (path: DocumentPath): string {
  return path.slice(path.indexOf('policy') === -1 ? 0 : path.indexOf('policy')).map((step, at) => typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`).join('')
}
