import { stripVTControlCharacters } from "node:util"
import { type Event, Message, type CompactionOutcome } from "@memfold/core"
import { describe, expect, it } from "vitest"
import { committed, started } from "@memfold/testing"
import { compactionRecord } from "./records.js"
import { messageLine, outcomeLines } from "./timeline.js"

type Committed = Extract<CompactionOutcome, { readonly _tag: "Committed" }>

const pruned: Event.ToolOutputsPruned = {
  _tag: "ToolOutputsPruned",
  compaction: "k1",
  outputs: [7, 9].map((index) => ({
    index,
    part: 0,
    method: "soft-trim",
    originalLength: 9_000,
    head: 1,
    tail: 1,
    note: "",
    tokens: 1,
  })),
}

const outcome = (rest: Partial<Committed> = {}): Committed => ({
  _tag: "Committed",
  started: started(6),
  committed: committed(6, { tokensBefore: 1_200, tokensAfter: 300 }),
  supersedes: null,
  pruned: null,
  ...rest,
})

// Colours are for whoever looks; these tests read, wherever they run.
const first = (one: CompactionOutcome) => stripVTControlCharacters(outcomeLines(one)[0] ?? "").trim()

describe("the badges of a compaction (reference design 3)", () => {
  it("say that it compressed, and what else it did", () => {
    expect(first(outcome())).toBe("◆  Compressed: history 0 to 5, reason r, 1,200 → 300 tokens")
    const split = started(6, {
      tailFrom: 4,
      parts: [
        { kind: "history", from: 0, to: 4 },
        { kind: "turn-prefix", from: 4, to: 6 },
      ],
    })
    expect(first(outcome({ started: split }))).toMatch(
      /^◆ {2}Compressed · Split Turn: history 0 to 3 \+ turn-prefix 4 to 5,/,
    )
    expect(first(outcome({ pruned }))).toMatch(/^◆ {2}Compressed · Pruned 2 outputs: history 0 to 5,/)
  })

  it("say that nothing was compressed where outputs were pruned alone", () => {
    expect(outcomeLines({ _tag: "Pruned", started: started(0), pruned })).toHaveLength(1)
    expect(first({ _tag: "Pruned", started: started(0), pruned })).toBe(
      "◆  Pruned 2 outputs: tools in messages 7 to 9, reason r",
    )
  })

  it("are counted in the record, too", () => {
    expect(compactionRecord(5, outcome())).toMatchObject({ type: "compaction", after: 5, pruned: 0 })
    expect(compactionRecord(5, outcome({ pruned }))).toMatchObject({ pruned: 2 })
  })
})

describe("a message's line", () => {
  const line = (message: Message.Message) => stripVTControlCharacters(messageLine(3, message))
  const result = (output: string) => line(Message.result({ id: "1", name: "read_file", output }))

  it("folds a long tool output, and says how much is folded", () => {
    const folded = result("one line and\nthe next ".repeat(500))
    expect(folded.split("\n")).toHaveLength(1)
    expect(folded.length).toBeLessThanOrEqual(100)
    expect(folded).toContain("← read_file one line and the next")
    expect(folded).toMatch(/… {2}▸ 11,000 characters$/)
  })

  it("shows a short one as it is", () => {
    expect(result("14 °C, rain")).toMatch(/← read_file {1,2}14 °C, rain$/)
    expect(line(Message.assistant("words ".repeat(500)))).not.toContain("▸")
  })
})
