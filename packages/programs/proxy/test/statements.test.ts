/** What a request through the proxy asks the store for. */
import { EventLog } from "@memfold/core"
import { statementsOfTurns } from "@memfold/harness/statements"
import { Effect } from "effect"
import { expect, it, onTestFinished } from "vitest"
import { proxied } from "./proxied.js"

type Said = { readonly role: string; readonly content: string }

/** Ways to send a conversation: the headers, and what of it is sent. */
const ways: Readonly<
  Record<string, { readonly headers: (turn: number) => Record<string, string>; readonly sendsAll: boolean }>
> = {
  "all of it": { headers: () => ({}), sendsAll: true },
  "what is new": { headers: () => ({ "x-memfold-history": "new" }), sendsAll: false },
  "what is new, with a key for each request": {
    headers: (turn) => ({ "x-memfold-history": "new", "idempotency-key": `k${turn}` }),
    sendsAll: false,
  },
}

it.each(Object.entries(ways))(
  "is two appends and three looks at the head, and no page of the log, of a client that sends %s",
  async (_, { headers, sendsAll }) => {
    const turns = await statementsOfTurns((store) => {
      const begun = Effect.runPromise(EventLog.EventLog.pipe(Effect.provide(store))).then((log) =>
        proxied({ log, compaction: { mode: "off" } }),
      )
      onTestFinished(async () => (await begun).close())
      const conversation: Array<Said> = []
      return async (turn) => {
        const question = { role: "user", content: `Question ${turn}?` }
        conversation.push(question)
        const answer = await fetch(`${(await begun).url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-session-id": "s", ...headers(turn) },
          body: JSON.stringify({ model: "gpt-5.4", messages: sendsAll ? conversation : [question] }),
        })
        expect(answer.headers.get("x-memfold")).toBe("memory")
        const { choices } = (await answer.json()) as { choices: ReadonlyArray<{ message: Said }> }
        conversation.push({ role: "assistant", content: choices[0]!.message.content })
      }
    })
    expect(turns).toEqual(turns.map(() => ({ appends: 2, heads: 3, pages: 0 })))
  },
)
