/**
 * The table of items against the types of the installed clients: a type that a client knows and the table does not fails
 * here, and so does a type of the table that no client knows.
 */
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { type ItemApi, items } from "./items.js"

const packageFile = (name: string, path: string): string =>
  join(dirname(fileURLToPath(import.meta.resolve(name))), path)

/** The declarations of some files of a client, without comments. */
const declarations = (name: string, paths: ReadonlyArray<string>): string =>
  paths
    .map((path) => readFileSync(packageFile(name, path), "utf8"))
    .join("\n")
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")

/** The text in the braces that open at or behind a position. */
const braced = (source: string, from: number): string => {
  const start = source.indexOf("{", from) + 1
  let end = start
  for (let depth = 1; depth > 0; end++) depth += source[end] === "{" ? 1 : source[end] === "}" ? -1 : 0
  return source.slice(start, end - 1)
}

/** A declaration without the bodies of what is nested in it. */
const flat = (body: string): string => {
  let text = body
  for (let before = ""; before !== text;) {
    before = text
    text = text.replaceAll(/\{[^{}]*\}/g, "")
  }
  return text
}

/** The fields with items inside an item. */
const inside = /^\s*(?:content|source|output|outputs|summary)\??: (?<types>[^;]+);/gm

/** The names of types that a declaration mentions. */
const namesIn = (types: string): ReadonlyArray<string> =>
  (types.match(/\b[A-Z][\w.]*/g) ?? []).filter((name) => name !== "Array")

/** Reads the literals of `type` of the named types, and of the items inside them. */
const typesOf = (source: string, names: ReadonlyArray<string>): ReadonlySet<string> => {
  const found = new Set<string>()
  const seen = new Set<string>()
  const read = (name: string, within: string, path: string): void => {
    const [space, ...rest] = name.split(".")
    const inner = rest.join(".")
    if (inner !== "") {
      const at = within.search(new RegExp(`\\bnamespace ${space} \\{`))
      // `ResponsesAPI.ResponseReasoningItem` is a name of another file.
      return at === -1 ? read(inner, source, "") : read(inner, braced(within, at), `${path}${space}.`)
    }
    if (seen.has(path + name)) return
    seen.add(path + name)
    const union = new RegExp(`\\btype ${name} = ([^;{]+);`).exec(within)?.[1]
    if (union !== undefined) {
      for (const one of namesIn(union)) read(one, source, "")
      return
    }
    const at = within.search(new RegExp(`\\binterface ${name}\\b`))
    if (at === -1) throw new Error(`the client has no type ${path}${name}`)
    const base = /extends (?:Omit<)?(?<name>\w+)/.exec(within.slice(at, within.indexOf("{", at)))?.groups
    if (base !== undefined) read(base["name"]!, source, "")
    const body = flat(braced(within, at))
    for (const [, literal] of /^\s*type\??: ([^;]+);/m.exec(body)?.[1]?.matchAll(/'([^']+)'/g) ?? [])
      found.add(literal!)
    for (const { groups } of body.matchAll(inside)) {
      for (const one of namesIn(groups!["types"]!)) read(one, source, "")
    }
  }
  for (const name of names) read(name, source, "")
  return found
}

// Another interface of the client is called `Message`, too.
const conversationsSource = declarations("openai", ["resources/conversations/conversations.d.ts"]).replaceAll(
  /\b(interface|namespace) Message\b|\bMessage\./g,
  (name) => name.replace("Message", "ConversationMessage"),
)
const responsesSource =
  declarations("openai", ["resources/responses/responses.d.ts", "resources/conversations/items.d.ts"]) +
  conversationsSource
const chatSource = declarations("openai", ["resources/chat/completions/completions.d.ts"])
const messagesSource = declarations("@anthropic-ai/sdk", [
  "resources/messages/messages.d.ts",
  "resources/beta/messages/messages.d.ts",
])

/** The types that the clients know, by API. */
const known: Readonly<Record<ItemApi, ReadonlySet<string>>> = {
  "openai-responses": typesOf(responsesSource, [
    "ResponseInputItem",
    "ResponseOutputItem",
    "ResponseItem",
    "ConversationItem",
    "ResponseContent",
    "ResponseInputAudio",
    "ResponseOutputAudio",
    "ConversationMessage",
  ]),
  openai: typesOf(chatSource, [
    "ChatCompletionMessageParam",
    "ChatCompletionContentPart",
    "ChatCompletionMessageToolCall",
  ]),
  anthropic: typesOf(messagesSource, [
    "ContentBlock",
    "ContentBlockParam",
    "BetaContentBlock",
    "BetaContentBlockParam",
  ]),
}

/** Types of the table that the clients do not know: compatible servers have them. */
const beside: Readonly<Record<ItemApi, ReadonlyArray<string>>> = {
  openai: ["video_url"],
  "openai-responses": [],
  anthropic: [],
}

describe("the table of items", () => {
  for (const api of ["openai", "openai-responses", "anthropic"] as const) {
    it(`has each type that the client of ${api} knows, and no other`, () => {
      expect(known[api].size).toBeGreaterThan(5)
      expect([...known[api], ...beside[api]].toSorted()).toEqual(Object.keys(items[api]).toSorted())
    })
  }

  it("answers each call with an item that says so, and closes it with an item that answers it", () => {
    for (const [api, table] of Object.entries(items)) {
      for (const [type, { call, answer }] of Object.entries(table)) {
        for (const one of answer?.calls ?? []) expect(table[one]?.call, `${api} ${type}`).toBeDefined()
        // A message with a role answers the calls of Chat Completions.
        if (call === undefined || api === "openai") continue
        const answers = Object.entries(table).filter(([, other]) => other.answer?.calls.includes(type))
        expect(answers.length, `${api} ${type}`).toBeGreaterThan(0)
        if (call.closing !== undefined) expect(answers.map(([name]) => name)).toContain(call.closing.type)
      }
    }
  })
})
