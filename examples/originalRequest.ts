import { Keep, Pin, Strategy, SummaryMode, Trigger } from "@memfold/core"

/** Keeps the first user message at the start of every context, word for word. */
export const originalRequest = Strategy.make({
  name: "original-request",
  when: Trigger.backlog({ messages: 20 }),
  keep: Keep.lastMessages(20),
  summaryMode: SummaryMode.rolling,
  pin: Pin.firstUserMessage,
})
