import { agentcliRules } from './rule-ids/agentcli.ts'
import { agentToolsApiRules } from './rule-ids/agent-tools-api.ts'
import { conflictRules } from './rule-ids/conflicts.ts'
import { faultRules } from './rule-ids/faults.ts'
import { originalBugs } from './rule-ids/original-bugs.ts'
import { skillRules } from './rule-ids/skill.ts'
import { skillFilesRules } from './rule-ids/skill-files.ts'
import { toolManifestRules } from './rule-ids/tool-manifest.ts'
import type { RuleRange } from './rules.ts'

/** Every rule that a test may cite, by its id, with what it is about. */
export const ruleIds: Record<string, string> = {
  ...agentcliRules,
  ...agentToolsApiRules,
  ...conflictRules,
  ...toolManifestRules,
  ...skillRules,
  ...skillFilesRules,
  ...originalBugs,
  ...faultRules
}

/** The tests must cite these by now, a line for each issue that asked for it. */
export const requiredRanges: readonly RuleRange[] = [
  { part: 'A', first: 1, last: 43 },
  { part: 'R', first: 1, last: 47 },
  { part: 'P', first: 1, last: 33 },
  { part: 'S', first: 1, last: 43 },
  { part: 'SN', first: 1, last: 40 },
  { part: 'X', first: 1, last: 35 },
  { part: 'RC', first: 26, last: 28 },
  { part: 'fault ', first: 20, last: 40 },
  { part: 'fault ', first: 42, last: 45 },
  { part: 'RC', first: 30, last: 33 },
  { part: 'RC', first: 35, last: 43 },
  { part: 'RC', first: 22, last: 22 },
  { part: 'B', first: 29, last: 33 },
  { part: 'X', first: 22, last: 22 }
]
