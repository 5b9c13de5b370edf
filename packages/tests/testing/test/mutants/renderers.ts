/** Renderers that are wrong. */
import { Item, SummaryMode, Keep, Message, Render, Strategy, Trigger } from "@memfold/core"
import { strategyProperties } from "../../src/index.js"
import type { Mutant } from "./Mutant.js"

const strategy = Strategy.make({
  name: "right",
  when: Trigger.uncovered({ messages: 6 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})

const renderer = (
  name: string,
  law: string,
  fault: (context: Render.Context, ...given: Parameters<typeof Render.render>) => Render.Context,
): Mutant => ({
  name,
  law,
  laws: () =>
    strategyProperties(strategy, { render: (...given) => fault(Render.render(...given), ...given) }),
})

const itemOf = (part: Message.Part): Item.Item | undefined =>
  part.type === "opaque" ? Item.itemOf(part) : undefined

let rendered = 0

export const rendererMutants: ReadonlyArray<Mutant> = [
  renderer("drops the newest message", "L4", (context) => ({
    ...context,
    messages: context.messages.slice(0, -1),
  })),
  renderer("doubles the first message", "L4", (context) => ({
    ...context,
    messages: [...context.messages.slice(0, 1), ...context.messages],
  })),
  renderer("moves the summary to the end", "L4", (context, state) =>
    state.summary === null
      ? context
      : { ...context, messages: [...context.messages.slice(1), ...context.messages.slice(0, 1)] },
  ),
  renderer("has messages in no section of the layout", "L4", (context) => ({
    ...context,
    layout: context.layout.filter(({ section }) => section !== "uncovered"),
  })),
  renderer("drops the calls, and leaves their results", "L5", (context) => ({
    ...context,
    messages: context.messages.map((message) => ({
      ...message,
      parts: message.parts.filter(({ type }) => type !== "tool-call"),
    })),
  })),
  renderer("sends calls of the provider that were abandoned", "L5", (context, state) => ({
    ...context,
    messages: context.messages.map((message, at) => {
      const own = state.uncovered.slice().find(({ index }) => index === context.sources[at])?.message
      const abandoned = own?.parts.filter((part) => itemOf(part)?.call?.by === "provider") ?? []
      return abandoned.length === 0
        ? message
        : { ...message, parts: [...message.parts.filter((part) => !abandoned.includes(part)), ...abandoned] }
    }),
  })),
  renderer("drops the results of the provider, and leaves its calls", "L5", (context) => ({
    ...context,
    messages: context.messages.map((message) => ({
      ...message,
      parts: message.parts.filter((part) => itemOf(part)?.answer === undefined),
    })),
  })),
  renderer("says how often it has rendered", "L10", (context) => ({
    ...context,
    messages: context.messages.map((message) => ({ ...message, metadata: { rendered: rendered++ } })),
  })),
  renderer("numbers the messages from the end", "L13", (context) => ({
    ...context,
    messages: context.messages.map((message, at) => ({
      ...message,
      metadata: { fromTheEnd: context.messages.length - at },
    })),
  })),
  renderer("sends reasoning behind a new summary", "L17", (_context, state, style, memory) =>
    Render.render(state, { ...style, boundReasoning: "keep" }, memory),
  ),
  renderer("sends no reasoning at all", "L17", (context) => ({
    ...context,
    messages: context.messages.map((message) => ({
      ...message,
      parts: message.parts.filter((part) => !Message.isBound(part)),
    })),
  })),
]
