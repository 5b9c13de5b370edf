/** What the conformance tests share: conversations to append, models that can be watched, waiting for work. */
import { Command } from "@effect/cli"
import * as NodeContext from "@effect/platform-node/NodeContext"
import type { Summarizer } from "@memfold/core"
import { type Console, Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FormattedContext, PromiseMemory } from "../src/index.js"

/** The text of the message at an index. */
export const text = (index: number): string =>
  `${index % 2 === 0 ? "question" : "answer"} ${index}, with a few more words in it`

/** Messages from an index on, the user and the assistant in turn. */
export const chat = (count: number, from = 0) =>
  Array.from({ length: count }, (_, position) => ({
    role: (from + position) % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: text(from + position),
  }))

/** A message with `count` calls of a tool, and the results. */
export const toolUse = (count: number) => {
  const ids = Array.from({ length: count }, (_, position) => `call ${position}`)
  return [
    {
      role: "assistant" as const,
      content: null,
      tool_calls: ids.map((id) => ({
        id,
        type: "function" as const,
        function: { name: "look", arguments: "{}" },
      })),
    },
    ...ids.map((id) => ({ role: "tool" as const, tool_call_id: id, content: `found for ${id}` })),
  ]
}

/** Appends messages one after another, and looks after each. */
export const oneByOne = async <A>(
  memory: PromiseMemory<"openai">,
  session: string,
  messages: ReturnType<typeof chat>,
  look: (position: number) => Promise<A>,
): Promise<ReadonlyArray<A>> => {
  const seen: Array<A> = []
  for (const [position, message] of messages.entries()) {
    await memory.append(session, message)
    seen.push(await look(position))
  }
  return seen
}

/** The layout as text: `summary [0,12)`. */
export const layoutOf = ({ layout }: Pick<FormattedContext<"openai">, "layout">): ReadonlyArray<string> =>
  layout.map(({ section, from, to }) => `${section} [${from},${to})`)

/** The contents of the messages of a context. */
export const contentsOf = ({ messages }: FormattedContext<"openai">): ReadonlyArray<unknown> =>
  messages.map((message) => message.content)

/** Everything an iterable has. */
export const gather = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

/** Comes back as soon as it is so; what is not so after ten seconds will never be. */
export const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + 10_000
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${isSo}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A summarizer that answers with the range it covers, and remembers what it was asked. */
export const watched = () => {
  const requests: Array<Summarizer.Request> = []
  const summarizer: Summarizer.Service = {
    name: "watched",
    summarize: (request) =>
      Effect.sync(() => {
        requests.push(request)
        return { text: `[${request.from},${request.to})` }
      }),
  }
  return { requests, summarizer }
}

/** A model that answers `summary 1`, `summary 2` and so on, each when it is let go. */
export const held = () => {
  const waiting: Array<() => void> = []
  const asked: Array<string> = []
  const ask = ({ user }: { readonly user: string }): Promise<string> =>
    new Promise((resolve) => {
      const answer = `summary ${asked.push(user)}`
      waiting.push(() => resolve(answer))
    })
  return { ask, asked, letGo: () => waiting.shift()?.() }
}

/** Runs with a folder that is gone afterwards. */
export const inFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-conformance-"))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a command of the command line, from its sources; answers with the lines it prints. */
export const commandLine = async <Name extends string, R, E, A>(
  command: Command.Command<Name, R & NodeContext.NodeContext, E, A>,
  ...args: ReadonlyArray<string>
): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  const run = Command.run(command, { name: "memfold", version: "0" })(["node", "memfold", ...args])
  await Effect.runPromise(
    Effect.consoleWith((console) => {
      const log = (line: unknown) => Effect.sync(() => void lines.push(String(line)))
      return Effect.withConsole(run, { ...console, log } as Console.Console)
    }).pipe(Effect.provide(NodeContext.layer)) as Effect.Effect<void, unknown>,
  )
  return lines
}
