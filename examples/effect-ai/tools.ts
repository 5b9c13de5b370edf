/** The tool of the agent. */
import { Tool } from "@effect/ai"
import { Schema } from "effect"

export const lookUp = Tool.make("lookUp", {
  description: "Looks up what is known about a request.",
  parameters: { request: Schema.String, depth: Schema.Number },
  success: Schema.Struct({ request: Schema.String, found: Schema.String, order: Schema.String }),
})
