/** The page folds the log itself: at every version it must have what the service says. */
import { createClient } from "@memfold/client"
import { type EventCodec, Render } from "@memfold/core"
import { expect, it } from "vitest"
import { marksOf } from "../src/page/session/marks.js"
import { sharesOf, sizeOf } from "../src/page/session/shares.js"
import { Timeline } from "../src/page/session/Timeline.js"
import { started, turn } from "./services.js"

/** Expects that a timeline of the events of a session has the contexts and the conversation of the service, at every version. */
const expectSame = async (url: string, session: string): Promise<Timeline> => {
  const memory = createClient({ url, format: "memfold" })
  const timeline = new Timeline(session)
  for (const event of await memory.events(session, { limit: 1_000 }))
    timeline.add(event as unknown as EventCodec.RecordedEvent)
  for (let version = 1; version <= timeline.version; version++) {
    const { messages, layout, tokens } = await memory.context(session, { atVersion: version })
    const own = Render.render(timeline.at(version))
    const plain = JSON.parse(JSON.stringify({ ...own, version })) as Record<string, unknown>
    expect(plain, `version ${version}`).toMatchObject({ version, messages, layout, tokens })
    const sent = sharesOf(timeline.at(version), own).filter(({ share }) => share !== "left-out")
    expect(sent.reduce((sum, one) => sum + one.tokens, 0)).toBe(tokens)
    // The curve and the lines of compactions say the number of the bar.
    expect(sizeOf(timeline.at(version)), `version ${version}`).toBe(tokens)
  }
  const { messages } = await memory.messages(session, { limit: 1_000 })
  const said = timeline.said(timeline.version).map(({ message }) => message)
  expect(JSON.parse(JSON.stringify(said))).toEqual(messages)
  return timeline
}

it("has what the service says at every version: compactions, reverts, edits, returns, and a clear", async () => {
  const { url } = await started({ compaction: { mode: "manual" } })
  const memory = createClient({ url })
  const strategy = { strategy: "rounds" } as const
  for (let n = 0; n < 6; n++) await memory.append("s", turn(n), strategy)
  await memory.compact("s", strategy)
  for (let n = 6; n < 9; n++) await memory.append("s", turn(n), strategy)
  const called = { id: "c", type: "function", function: { name: "read", arguments: "{}" } }
  await memory.append("s", { role: "assistant", content: null, tool_calls: [called] })
  await memory.compact("s", strategy)
  await memory.append("s", { role: "tool", tool_call_id: "c", content: "Nothing is there." })
  expect(await memory.revert("s")).toBeGreaterThan(0)
  await memory.compact("s", strategy)
  await memory.edit("s", 2, turn(20))
  await memory.append("s", turn(21))
  await memory.undo("s")
  await memory.regenerate("s")
  await memory.checkout("s", 0)
  await memory.clear("s")
  await memory.append("s", turn(30))
  await memory.undo("s")
  const timeline = await expectSame(url, "s")
  const marks = marksOf(timeline)
  expect(marks.filter(({ outcome }) => outcome === "committed").length).toBeGreaterThan(1)
  expect(marks.some(({ invalidatedAt }) => invalidatedAt !== null)).toBe(true)
})
