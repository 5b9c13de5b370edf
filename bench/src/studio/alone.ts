/**
 * What the page of studio asks its service for, asked without the page: a preview over a session that nothing has compacted, a client who
 * leaves it, and in which summaries a message lives on.
 */
import { serve } from "@memfold/server"
import { createMemory } from "memfold"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { median, milliseconds, told, within } from "../measure.js"
import { longTranscript } from "./longTranscript.js"

/** How many messages an append has. */
const batch = 500

/** Writes the session `long` of a transcript, and compacts nothing. */
const fill = async (filename: string, messages: number): Promise<void> => {
  const memory = createMemory({
    store: `sqlite:${filename}?synchronous=normal`,
    compaction: { mode: "off" },
  })
  const said = longTranscript(messages)
    .split("\n")
    .map((line) => {
      const { timestamp: _timestamp, ...message } = JSON.parse(line)
      return message
    })
  for (let from = 0; from < said.length; from += batch)
    await memory.append("long", said.slice(from, from + batch))
  await memory.close()
}

/** A model that answers at once, until it is told to hold a call: that one waits until it is told to stop. */
class Model {
  calls = 0
  private held: { readonly at: number; readonly stopped: () => void } | null = null

  /** Holds the call of a number; resolves when the call is told to stop. */
  hold(at: number): Promise<void> {
    this.calls = 0
    return new Promise((resolve) => {
      this.held = { at, stopped: resolve }
    })
  }

  readonly ask = async (_prompt: unknown, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
    if (++this.calls === this.held?.at) {
      if (!signal.aborted) await once(signal, "abort")
      this.held.stopped()
    }
    return "They worked on tickets and ran the tests. ".repeat(5)
  }
}

interface Previewing {
  /** Milliseconds until the first line about how far it is, and until the answer. */
  readonly first: number
  readonly whole: number
  /** The most compactions of one preview are those of rounds: many small ones. */
  readonly compactions: number
}

/** Asks for a preview with lines of how far it is. */
const preview = async (
  url: string,
  summarizer: "extractive" | "own",
  signal?: AbortSignal,
): Promise<Previewing> => {
  const began = performance.now()
  const response = await fetch(`${url}/v1/sessions/long/preview`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/x-ndjson" },
    body: JSON.stringify({ which: "due", strategy: "rounds", summarizer }),
    ...(signal === undefined ? {} : { signal }),
  })
  let first = Number.POSITIVE_INFINITY
  let text = ""
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    if (text === "") first = performance.now() - began
    text += piece
  }
  const whole = performance.now() - began
  const { answer } = JSON.parse(text.trimEnd().split("\n").at(-1)!)
  if (answer === undefined) throw new Error(`there is no preview: ${text.slice(-500)}`)
  return { first, whole, compactions: answer.compactions.length }
}

/** How many calls there are before the client leaves. */
const callsBefore = 20

/** Prints previews of a session, and what a client who leaves one leaves behind. Returns whether all of it is within its bounds. */
export const previews = async (folder: string, messages: number): Promise<boolean> => {
  const filename = join(folder, "raw.db")
  await fill(filename, messages)
  const model = new Model()
  const { url, close } = await serve({
    store: `sqlite:${filename}`,
    port: 0,
    log: "error",
    compaction: { mode: "manual" },
    summarizer: model.ask,
  })
  try {
    const cold = await preview(url, "extractive")
    told(`the first preview, of ${cold.compactions} compactions`, `${Math.round(cold.whole)} ms`)
    const warm: Array<Previewing> = []
    for (let round = 0; round < 3; round++) warm.push(await preview(url, "extractive"))
    const whole = await preview(url, "own")
    const all = model.calls
    const leaving = new AbortController()
    const stopped = model.hold(callsBefore)
    const left = preview(url, "own", leaving.signal).catch(() => "left")
    while (model.calls < callsBefore) await setTimeout(10)
    leaving.abort()
    const time = await milliseconds(() => stopped)
    // As long as the whole preview takes: what went on would be seen.
    await setTimeout(whole.whole)
    const after = model.calls - callsBefore
    told("calls of the model behind a cancel", `${after} of ${all - callsBefore} (bound 0)`)
    return [
      within("the first progress of a preview", Math.max(cold.first, ...warm.map(({ first }) => first)), 500),
      within("a preview, median", median(warm.map((one) => one.whole)), 2_000),
      within("a cancel reaches the call of the model", time, 500),
      after === 0 && (await left) === "left",
    ].every(Boolean)
  } finally {
    await close()
  }
}

/** Prints how long the service of the page looks for the summaries of a message, behind the first look. Returns whether that is within its bound. */
export const traces = async (url: string, messages: number): Promise<boolean> => {
  const look = (message: number) =>
    milliseconds(async () => {
      const response = await fetch(`${url}/v1/sessions/long/messages/${message}/trace`)
      if (!response.ok) throw new Error(await response.text())
      await response.arrayBuffer()
    })
  const times: Array<number> = []
  for (let part = 0; part < 9; part++) times.push(await look(Math.floor((messages * part) / 9)))
  return within("the summaries of a message, from the service alone, the slowest", Math.max(...times), 200)
}
