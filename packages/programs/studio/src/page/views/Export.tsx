/** Saving a session, or one of its contexts, as a file. */
import { count } from "../format.js"
import { Choice } from "../parts/Choice.js"
import { Dialog } from "../parts/Dialog.js"
import { ask, ofSession } from "../service/ask.js"
import type { ActionProps } from "./Actions.js"

const save = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name.replaceAll(/[^\w.-]+/g, "_")
  link.click()
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** The whole conversation in a format, page by page from its end. */
const conversation = async (session: string, format: string): Promise<ReadonlyArray<unknown>> => {
  const pages: Array<unknown> = []
  for (let before: string | undefined; ;) {
    const page = await ask<{ readonly messages: unknown; readonly before: string | null }>(
      ofSession(session, "/messages"),
      { query: { format, limit: 1_000, before } },
    )
    pages.unshift(...[page.messages].flat())
    if (page.before === null) return pages
    before = page.before
  }
}

export const Export = ({ timeline, version, onClose }: Omit<ActionProps, "marks">) => {
  const { session } = timeline
  const act = async (form: FormData) => {
    const format = String(form.get("format"))
    switch (form.get("what")) {
      case "log":
        return save(
          `${session}.events.jsonl`,
          timeline.events.map((event) => `${JSON.stringify(event)}\n`).join(""),
        )
      case "messages":
        return save(`${session}.${format}.json`, JSON.stringify(await conversation(session, format), null, 2))
      default: {
        const query = { format, atVersion: version }
        const { messages } = await ask<{ readonly messages: unknown }>(ofSession(session, "/context"), {
          query,
        })
        save(`${session}.context-${version}.${format}.json`, JSON.stringify(messages, null, 2))
      }
    }
  }
  return (
    <Dialog title="Export" verb="Save" act={act} onClose={onClose}>
      <p>Saves a file on this machine, and changes nothing in the session.</p>
      <Choice
        label="What"
        name="what"
        options={[
          ["context", `The context at version ${count(version)}, as a request has it`],
          ["messages", "The conversation as it was said"],
          ["log", "The log: every event, one a line"],
        ]}
      />
      <Choice
        label="Format of the messages"
        name="format"
        options={[
          ["openai", "OpenAI Chat Completions"],
          ["openai-responses", "OpenAI Responses"],
          ["anthropic", "Anthropic Messages"],
          ["memfold", "memfold"],
        ]}
      />
    </Dialog>
  )
}
