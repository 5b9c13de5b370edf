/** Secrets by the rules of secretlint, run in the process, and by the forms of further tokens. */
import { rules as recommended } from "@secretlint/secretlint-rule-preset-recommend"
import type { Piece } from "./numbers.js"

interface Report {
  readonly message: { readonly data?: unknown }
  readonly range: readonly [number, number]
}

/** A rule of secretlint: a package of its own, such as `@secretlint/secretlint-rule-pattern`, or one of the recommended ones. */
export interface SecretRule {
  readonly rule: {
    readonly meta: { readonly id: string }
    // The options of each rule are of another type.
    readonly create: (context: never, options: never) => { readonly file?: (source: never) => unknown }
  }
  readonly options?: object
}

/** A rule that lets a text switch the rules off: what a message says does not decide what is stored of it. */
const isFilter = ({ meta }: SecretRule["rule"]): boolean => meta.id.endsWith("-filter-comments")

/** The recommended rules of secretlint, with the scan for ids of AWS keys. */
export const recommendedRules: ReadonlyArray<SecretRule> = recommended
  .filter((rule) => !isFilter(rule))
  .map((rule) => ({ rule, options: rule.meta.id.endsWith("-aws") ? { enableIDScanRule: true } : {} }))

/** Tokens that their form makes known, and that the recommended rules do not know. */
const tokens: ReadonlyArray<readonly [kind: string, form: RegExp]> = [
  ["databricks", /\bdapi[a-f0-9]{32}\b/g],
  ["digitalocean", /\bdo[oprt]_v1_[a-f0-9]{64}\b/g],
  ["docker", /\bdckr_pat_[\w-]{27}(?![\w-])/g],
  ["gitlab", /\bglpat-[\w-]{20,100}(?![\w-])/g],
  ["google", /\bAIza[\w-]{35}(?![\w-])/g],
  ["groq", /\bgsk_[A-Za-z0-9]{52}\b/g],
  ["huggingface", /\bhf_[A-Za-z]{34}\b/g],
  ["jwt", /\beyJ[\w-]{16,}\.eyJ[\w-]{16,}\.[\w-]{32,}/g],
  // With a label of any kind, in JSON, in lines with numbers or marks, or with its end cut off.
  [
    "privatekey",
    /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----(?:[\w\s+/=\\:,|>→.]|-(?!----BEGIN)){100,20000}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----/g,
  ],
  [
    "privatekey",
    /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----(?:[^\w]|\\+[nr]|\d{1,6}[\t→:|]){1,40}[\w+/=]{40,80}(?:(?:[\s|>→:+-]|\\+[nr]|\d{1,6}[\t→:|]){1,20}[\w+/=]{16,80}){0,200}/g,
  ],
  ["npm", /(?<=:_authToken=)[\w-]{20,}(?![\w-])/g],
  ["pypi", /\bpypi-AgE[\w-]{50,}/g],
  ["stripe", /\b(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{24,247}\b/g],
  ["telegram", /\b\d{8,10}:AA[\w-]{33}(?![\w-])/g],
  ["twilio", /\bSK[a-f0-9]{32}\b/g],
  ["vault", /\bhvs\.[\w-]{24,}/g],
]

/** A word that stands for a secret in instructions, and variables. */
const placeholder =
  /^(?:<|\$|%|\{|\[|\*)|(?:^|[^a-z])(?:your|my|xxx+|example|placeholder|changeme|redacted|dummy|fake|pass(?:word|wd)?|secret|token|user(?:name)?)(?:$|[^a-z])|(.)\1{7}/i

/** The pieces of a text that a report means. Its range may be that of the whole assignment, or of something near. */
const reported = (text: string, kind: string, { message, range }: Report): ReadonlyArray<Piece> => {
  const named = Object.values((message.data ?? {}) as Readonly<Record<string, unknown>>).find(
    (value): value is string =>
      typeof value === "string" && value.length >= 8 && text.includes(value, range[0]),
  )
  const value = named ?? text.slice(...range)
  // Some rules take the rest of the line.
  const secret = value.startsWith("-----") ? value : (/^[^\s"'`\\<>]+/.exec(value)?.[0] ?? "")
  const hidden = /:\/\/[^:]*:([^@]*)@/.exec(secret)?.[1] ?? secret.replace(/^_?authToken=/, "")
  if (secret === "" || (kind !== "privatekey" && placeholder.test(hidden))) return []
  const from = text.indexOf(secret, range[0])
  return [{ from, to: from + secret.length, kind }]
}

const kindOf = ({ meta: { id } }: SecretRule["rule"]): string => id.replace(/^.*secretlint-rule-/, "")

/**
 * Finds secrets in a text. The rules are run without `@secretlint/core`, which keeps marks of its profiler for each run as long as the
 * process lives, and which heeds comments in the text that switch rules off.
 */
export const secretsBy =
  (rules: ReadonlyArray<SecretRule>) =>
  async (text: string): Promise<ReadonlyArray<Piece>> => {
    const found: Array<Piece> = []
    const source = {
      content: text,
      contentType: "text",
      ext: ".txt",
      filePath: "message.txt",
      getFilePath: () => "message.txt",
    }
    for (const { rule, options = {} } of rules) {
      const context = {
        sharedOptions: {},
        createTranslator: () => (messageId: string, data: unknown) => ({
          messageId,
          message: messageId,
          data,
        }),
        report: (report: Report) => void found.push(...reported(text, kindOf(rule), report)),
        ignore: () => undefined,
      }
      await rule.create(context as never, options as never).file?.(source as never)
    }
    for (const [kind, form] of tokens)
      for (const { 0: token, index: from } of text.matchAll(form))
        found.push({ from, to: from + token.length, kind })
    return found
  }
