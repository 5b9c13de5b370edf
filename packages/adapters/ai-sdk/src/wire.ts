/** The messages of the AI SDK, as far as the codec checks them. */
import { Schema } from "effect"

const text = (example: string) => Schema.String.annotations({ description: `a string, like "${example}"` })

// A part of a type we do not know is kept as it came; those we know have to be what they say.
const needed: Readonly<Record<string, Schema.Struct.Fields>> = {
  text: { text: Schema.String },
  reasoning: { text: Schema.String },
  "tool-call": { toolCallId: Schema.String, toolName: Schema.String },
  "tool-result": {
    toolCallId: Schema.String,
    toolName: Schema.String,
    output: Schema.Struct({ type: text("text") }),
  },
}

const others = Schema.Struct({
  type: text("text").pipe(Schema.filter((type) => !Object.hasOwn(needed, type))),
})

const Part = Schema.Union(
  ...Object.entries(needed).map(([type, fields]) => Schema.Struct({ type: Schema.Literal(type), ...fields })),
  others,
).annotations({ description: 'an object with a "type", and the fields of that type' })

const Parts = Schema.Array(Part).annotations({ description: "a list of content parts" })
const Content = Schema.Union(Schema.String, Parts).annotations({
  description: "a string or a list of content parts",
})

/** What each role has to look like. None of them transforms: a message that passes is used as it is. */
export const messages = {
  system: Schema.Struct({ content: Schema.String }),
  user: Schema.Struct({ content: Content }),
  assistant: Schema.Struct({ content: Content }),
  tool: Schema.Struct({ content: Parts }),
}

/** What each role of a page's message has to look like. */
export const uiMessages = Object.fromEntries(
  ["system", "user", "assistant"].map((role) => [
    role,
    Schema.Struct({
      id: Schema.String,
      parts: Schema.Array(
        Schema.Struct({ type: text("text") }).annotations({ description: 'an object with a "type"' }),
      ).annotations({ description: "a list of parts" }),
    }),
  ]),
)

export type WireRole = keyof typeof messages
export type WirePart = { readonly type: string; readonly [key: string]: unknown }

/** A checked message. */
export interface WireMessage {
  readonly role: WireRole
  readonly content: string | ReadonlyArray<WirePart>
  readonly [key: string]: unknown
}

/** A checked message of a page. */
export interface WireUIMessage {
  readonly id: string
  readonly role: "system" | "user" | "assistant"
  readonly parts: ReadonlyArray<WirePart>
  readonly [key: string]: unknown
}
