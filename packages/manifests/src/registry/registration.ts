import { createHash } from 'node:crypto'
import { createPause } from '../document/pause.ts'
import { neededDefaults } from '../schema/defaults.ts'
import type { Schemas } from '../schema/schemas.ts'
import type { ArgumentsResult } from '../schema/validator.ts'
import { loadCel, type Cel } from '../schema/policy/expression.ts'
import { compilePolicy, type Policy } from '../schema/policy/policy.ts'
import { toolVersion } from '../tool/tool-version.ts'
import type { PolicyRule } from '../tool/policy-rule.ts'
import type { Tool } from '../tool/tool.ts'

export interface RegisteredTool {
  readonly tool: Tool
  /** See `toolVersion`. */
  readonly version: string
  /** Checks a call's arguments against the schema; the result holds a copy with defaults filled in. */
  validate (args: Record<string, unknown>): ArgumentsResult
  /** The same without holding up the event loop: the first use of a schema compiles it. What takes long is checked in turns of owners. */
  check (args: Record<string, unknown>, owner?: string): Promise<ArgumentsResult>
  /** Names its entry as it is served: another one when anything of it changes. */
  readonly entry: string
  readonly policy: Policy
}

/**
 * A registry needs this of each tool that manifests declare: it takes some 0.1 ms for one tool. So it is made in parts
 * while manifests are read, and kept: to merge layers again, with other import faults, makes it for what they change.
 */
export class Registration {
  readonly #schemas: Schemas
  readonly #registered: WeakMap<Tool, RegisteredTool>
  #cel: Cel | undefined
  readonly #digests: WeakMap<Tool, string>

  /** @param before of the load before: what it has made for a tool that is the same object stays. */
  constructor (schemas: Schemas, before?: Registration) {
    this.#schemas = schemas
    this.#registered = before === undefined ? new WeakMap() : before.#registered
    this.#digests = before === undefined ? new WeakMap() : before.#digests
  }

  async prepare (tools: readonly Tool[]): Promise<void> {
    if (tools.some(({ policy }) => policy !== undefined)) this.#cel = await loadCel()
    const pause = createPause()
    for (const tool of tools) {
      await pause()
      this.of(tool)
      this.digest(tool)
    }
  }

  of (tool: Tool): RegisteredTool {
    const known = this.#registered.get(tool)
    if (known !== undefined) return known
    const rest = { version: toolVersion(tool), entry: this.digest(tool), policy: this.#policyOf(tool) }
    const schema = tool.run.kind === 'mcp' ? neededDefaults(tool.parameters) : tool.parameters
    const registered = { tool, ...rest, ...this.#schemas.validators(schema) }
    this.#registered.set(tool, registered)
    return registered
  }

  #policyOf ({ policy }: Tool): Policy {
    return policy === undefined ? [] : this.#compiled(policy)
  }

  #compiled (rules: readonly PolicyRule[]): Policy {
    if (this.#cel === undefined) throw new Error('A tool with rules was not prepared')
    return compilePolicy(this.#cel, rules)
  }

  /** Hash of a tool as it is served. Where it was declared is left out: moving an entry to another file changes nothing. */
  digest (tool: Tool): string {
    const known = this.#digests.get(tool)
    if (known !== undefined) return known
    const { source: _, ...served } = tool
    // The texts of all skills are too long for one turn of the event loop.
    const told = tool.run.kind === 'read-skill' ? { ...served, run: { ...tool.run, skills: undefined } } : served
    const digest = createHash('sha256').update(JSON.stringify(told)).digest('base64url')
    this.#digests.set(tool, digest)
    return digest
  }
}
