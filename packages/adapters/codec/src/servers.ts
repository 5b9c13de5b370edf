/** What the servers of models want that their API does not say: one row for each, found by its name or by its address. */
import type { Fields } from "./fields.js"

/** What a server wants, or takes less of than the API that it speaks. What a row does not have is as in the API. */
export interface Server {
  readonly hosts: RegExp
  /** What libraries call it, if a model with that name cannot be of another server. */
  readonly providers?: RegExp
  /** Whether a conversation may begin with the assistant. Most servers refuse that, so it is the exception. */
  readonly begins?: "anyone"
  /** Whether the assistant has to speak between the results of tools and the user. */
  readonly answersTools?: true
  /** Names of further fields that it takes back. */
  readonly fields?: ReadonlyArray<string>
  /** The field in which it wants reasoning back, and what it takes where a message with calls has none. */
  readonly reasoning?: { readonly field: string; readonly none: string }
  /** Fields that the first call of a message has, if it came without them. */
  readonly firstCall?: Fields
  readonly callIds?: number
  /** Whether messages have no author's name. */
  readonly isUnnamed?: true
  /** How many images a request can have. */
  readonly images?: number
  /** How large an image with its data can be, and all of a request together, in characters of base64. */
  readonly imageSize?: number
  readonly imagesSize?: number
}

/** Gemini takes a call without the signature of its thought, one of another model, with this in its place. */
const unsigned = { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } }

const table = {
  /** Any server: what nearly all of them want. */
  any: { hosts: /$^/ },
  openai: {
    hosts: /(^|\.)openai\.(com|azure\.com)$/,
    begins: "anyone",
    images: 500,
  },
  anthropic: {
    hosts: /(^|\.)anthropic\.com$/,
    providers: /^(vertex\.)?anthropic/,
    images: 100,
    imageSize: 5 * 2 ** 20,
    // A request has 32 MB; the rest is for what is said.
    imagesSize: 24_000_000,
  },
  bedrock: {
    hosts: /^bedrock[\w.-]*\.amazonaws\.com$/,
    providers: /bedrock/,
    images: 20,
    imageSize: 5_000_000,
  },
  deepseek: {
    hosts: /(^|\.)deepseek\.com$/,
    providers: /^deepseek/,
    reasoning: { field: "reasoning_content", none: "" },
  },
  gemini: {
    hosts: /^(generativelanguage|[\w-]*aiplatform)\.googleapis\.com$/,
    providers: /^(google|gemini|vertexai)/,
    fields: ["extra_content"],
    firstCall: unsigned,
  },
  groq: { hosts: /(^|\.)groq\.com$/, providers: /^groq/, images: 5, imagesSize: 3_500_000 },
  // An empty text counts as missing there.
  kimi: {
    hosts: /(^|\.)(moonshot\.(ai|cn)|kimi\.com)$/,
    providers: /^(moonshot|kimi)/,
    reasoning: { field: "reasoning_content", none: " " },
  },
  mistral: {
    hosts: /(^|\.)mistral\.ai$/,
    providers: /^mistral/,
    answersTools: true,
    callIds: 9,
    isUnnamed: true,
    images: 8,
  },
  scaleway: { hosts: /(^|\.)scaleway\.ai$/, providers: /^scaleway/, images: 12 },
} as const satisfies Record<string, Server>

/** The servers that are known, by name. */
export const servers: Readonly<Record<keyof typeof table, Server>> = table

/** The name of a server that is known. */
export type ServerName = keyof typeof table

/** The names of the servers that are known. */
export const serverNames: ReadonlyArray<ServerName> = Object.keys(table) as ReadonlyArray<ServerName>

const isName = (text: string): text is ServerName => Object.hasOwn(table, text)

const found = (is: (server: Server) => boolean): Server => Object.values<Server>(table).find(is) ?? table.any

/**
 * The row of a server; `any` if the server is not known.
 *
 * @param given - its name, the base URL of the client, or what a library calls the provider, such as `mistral.chat`
 *
 * @example
 * ```ts
 * import { serverOf } from "@memfold/codec"
 *
 * console.log(serverOf("https://api.deepseek.com/v1").reasoning?.field) // reasoning_content
 * console.log(serverOf("mistral").callIds) // 9
 * ```
 */
export const serverOf = (given: string | undefined): Server => {
  if (given === undefined) return table.any
  if (isName(given)) return servers[given]
  if (!given.includes("//")) return found(({ providers }) => providers?.test(given.toLowerCase()) === true)
  const { hostname } = URL.canParse(given) ? new URL(given) : { hostname: "" }
  return found(({ hosts }) => hosts.test(hostname))
}
