/** An agent with memory: all that an application writes. */
import type { Toolkit } from "@effect/ai"
import type { Memory } from "@memfold/core"
import { effectAi } from "@memfold/effect-ai"
import { Effect } from "effect"
import type { lookUp } from "./tools.js"

type Tools = Toolkit.WithHandler<{ readonly lookUp: typeof lookUp }>

/** Answers what the user says; without a text, it goes on where the session stands. */
export const answer = (memory: Memory.AnyMemory, toolkit: Tools, id: string, text?: string) =>
  Effect.gen(function* () {
    const chat = yield* effectAi(memory).session(id)
    let { text: said, toolCalls } = yield* chat.generateText({ prompt: text ?? [], toolkit })
    while (toolCalls.length > 0) {
      ;({ text: said, toolCalls } = yield* chat.generateText({ prompt: [], toolkit }))
    }
    return said
  })
