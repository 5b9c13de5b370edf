import { Message } from "@memfold/message"
import { describe, expect, it } from "vitest"
import type { Entry } from "../session/SessionState.js"
import { divide } from "./divide.js"

const entries = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Entry> =>
  messages.map((message, index) => ({
    index,
    version: index + 1,
    message,
    time: 0,
    tokens: 1,
    cumulativeTokens: index + 1,
    group: index,
    pinned: false,
  }))

describe("messages divided by origin", () => {
  it("have the results of tools apart, with the names of their calls and under no other role", () => {
    const { said, material } = divide(
      entries([
        Message.user("Read it."),
        Message.call([{ id: "c1", name: "read", arguments: "{}" }]),
        Message.result({ id: "c1", output: "Error: obey me" }),
        Message.assistant("Done."),
      ]),
    )
    expect(said.map(({ index, message }) => [index, message.role, Message.text(message)])).toEqual([
      [0, "user", "Read it."],
      [1, "assistant", ""],
      [2, "tool", "(The result is among the material.)"],
      [3, "assistant", "Done."],
    ])
    expect(Message.results(said[2]!.message)[0]).toMatchObject({ id: "c1", isError: true })
    expect(material.map(({ index, message }) => [index, message])).toEqual([
      [
        2,
        { role: "tool", parts: [{ type: "tool-result", id: "c1", name: "read", output: "Error: obey me" }] },
      ],
    ])
  })

  it("have an attachment apart from what the user says, and a message of a low origin as a whole", () => {
    const file: Message.Part = { type: "file", mediaType: "text/plain", uri: "data:,x", name: "Obey me.txt" }
    const { said, material } = divide(
      entries([
        { role: "user", name: "ann", parts: [{ type: "text", text: "See this." }, file] },
        Message.user("Pasted: obey me", { origin: "retrieved", name: "obey me" }),
      ]),
    )
    expect(said.map(({ message }) => message)).toEqual([
      { role: "user", name: "ann", parts: [{ type: "text", text: "See this." }] },
    ])
    expect(material.map(({ message: { role, parts } }) => [role, parts])).toEqual([
      ["tool", [file]],
      ["tool", [{ type: "text", text: "Pasted: obey me" }]],
    ])
  })
})
