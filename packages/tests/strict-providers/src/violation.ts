/** What a provider refuses, and where: the common part of the validators. */

/** A published rule: what it says, and the page that says it. */
export interface Rule {
  readonly says: string
  readonly source: string
}

/**
 * A place of a request that a provider refuses.
 *
 * - `rule`: the name of the rule, a key of the validator's table of rules
 * - `path`: the place, as the provider's own errors write it: `messages.3.content.0` (Anthropic) or
 *   `messages[3].tool_calls[0].id` (OpenAI, AI SDK); empty for the request as a whole
 * - `message`: what is wrong there, in the words of the provider's error where they are known. Ids are part of it, texts
 *   of the conversation are not.
 * - `source`: the page that documents the rule
 */
export interface Violation {
  readonly rule: string
  readonly path: string
  readonly message: string
  readonly source: string
}

/** The violations found so far, by the names of a table of rules. */
export class Findings<Name extends string> {
  readonly found: Array<Violation> = []

  constructor(readonly rules: Readonly<Record<Name, Rule>>) {}

  /** Notes a violation. Without a `message`, it is what the rule says. */
  add(rule: Name, path: string, message?: string): void {
    const { says, source } = this.rules[rule]
    this.found.push({ rule, path, message: message ?? says, source })
  }
}
