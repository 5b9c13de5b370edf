import { Message } from "@memfold/core"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, expect, it, vi } from "vitest"
import { dataSets } from "./dataSets.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-data-sets-"))
afterAll(() => rmSync(folder, { recursive: true }))

const write = (path: string, text: string): void => {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const traj = (at: number) => ({
  traj: [
    { role: "system", content: "Help." },
    { role: "user", content: `Case ${at}` },
    { role: "assistant", content: "Done." },
  ],
})

it("says which files are missing and where, and reads what is there", () => {
  const said = vi.spyOn(process.stderr, "write").mockReturnValue(true)
  write(
    "locomo/conversations.json",
    JSON.stringify([
      {
        conversation: {
          speaker_a: "Ann",
          session_1_date_time: "1:56 pm on 8 May, 2023",
          session_1: [{ speaker: "Ann", dia_id: "D1:1", text: "My boat is called Albatross." }],
        },
        qa: [{ question: "How is the boat called?", evidence: ["D1:1"] }],
      },
    ]),
  )
  write(
    "longmemeval/histories.json",
    JSON.stringify({
      question: "Where to?",
      answer_session_ids: ["a"],
      haystack_session_ids: ["a"],
      haystack_dates: ["2023/07/12 (Wed) 10:14"],
      haystack_sessions: [[{ role: "user", content: "To Graz." }]],
    }),
  )
  write("tau-bench/airline.json", JSON.stringify(Array.from({ length: 21 }, (_, at) => traj(at))))
  expect(dataSets(folder)).toBeNull()
  const [line] = said.mock.calls[0] ?? []
  expect(line).toContain(`pi-mono/before-compaction.jsonl in the folder ${folder}`)
  expect(line).not.toContain("locomo")
  expect(line).toContain("MEMFOLD_DATA")
  said.mockRestore()

  const entry = {
    type: "message",
    timestamp: "2026-01-01T00:00:00Z",
    message: { role: "user", content: "Hi" },
  }
  write("pi-mono/before-compaction.jsonl", `{"type":"session"}\n${JSON.stringify(entry)}\n`)
  const sets = dataSets(folder)!
  const sizes = (name: keyof typeof sets) => sets[name].conversations.map(({ messages }) => messages.length)
  expect([sizes("locomo"), sizes("longMemEval"), sizes("coding")]).toEqual([[1], [1], [1]])
  expect(sizes("support")).toEqual(Array.from({ length: 21 }, () => 3))
  // Ten cases each, with one system prompt; the last case has no nine others.
  expect(sizes("cases")).toEqual([21, 21])
  expect(sets.cases.conversations[1]?.messages.map(Message.text)).toContain("Case 19")
})
