/** Saving a session, or one of its contexts, as a file. */
import { Dialog } from "../parts/Dialog.js"
import { count } from "../format.js"
import { ask, ofSession } from "../service/ask.js"
import type { Timeline } from "../session/Timeline.js"

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

export const Export = ({
  timeline,
  version,
  onClose,
}: {
  readonly timeline: Timeline
  readonly version: number
  readonly onClose: () => void
}) => {
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
      <label>
        What
        <select name="what">
          <option value="context">The context at version {count(version)}, as a request has it</option>
          <option value="messages">The conversation as it was said</option>
          <option value="log">The log: every event, one a line</option>
        </select>
      </label>
      <label>
        Format of the messages
        <select name="format">
          <option value="openai">OpenAI Chat Completions</option>
          <option value="openai-responses">OpenAI Responses</option>
          <option value="anthropic">Anthropic Messages</option>
          <option value="memfold">memfold</option>
        </select>
      </label>
    </Dialog>
  )
}
