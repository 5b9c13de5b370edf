/**
 * What the guard finds in real transcripts: each finding is a real secret. It prints counts and places, and never a text. Files are read as
 * they are, besides: fields that no format reads are full of ids, times, scores and digests.
 */
import { Guard, Message } from "@memfold/core"
import { guard, type GuardKind, guardKinds } from "@memfold/guard"
import { corpus } from "@memfold/harness/corpus"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { otherConversations } from "./otherTranscripts.js"

const folder = process.env["MEMFOLD_CORPUS"]!

/** The messages of a file, and the file itself in pieces, as tools print files. */
const messagesOf = ({ file, found }: (typeof corpus)[number]): ReadonlyArray<Message.Message> => {
  const said =
    found.length > 0 ? found.map(({ messages }) => messages) : otherConversations(join(folder, file))
  const lines = readFileSync(join(folder, file), "utf8").match(/[^]{1,200000}/g) ?? []
  return [...said.flat(), ...lines.map((output) => Message.result({ id: "c1", output }))]
}

const found = (kinds: ReadonlyArray<GuardKind>, messages: ReadonlyArray<Message.Message>) =>
  Effect.runPromise(Guard.guardedBy(guard({ kinds }), messages, { session: "s" })).then((list) =>
    list.flatMap(({ guarded }, at) => (guarded === undefined ? [] : [{ at, guarded }])),
  )

it("leaves every message as it is that has no secret", async () => {
  let count = 0
  for (const one of corpus) {
    const messages = messagesOf(one)
    count += messages.length
    expect({ file: one.file, found: await found(["secrets", "cards", "ibans"], messages) }).toEqual({
      file: one.file,
      found: [],
    })
    const asked = await found(["emails", "phones"], messages)
    console.log(
      `${one.file}: ${messages.length} messages, with e-mail addresses or telephone numbers: ${asked.length}`,
    )
  }
  expect(guardKinds).toHaveLength(5)
  console.log(`${count} messages`)
})
