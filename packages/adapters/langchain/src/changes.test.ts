/** What a list changes, as a property: afterwards, the session has what the list shows, and the same list changes nothing. */
import { Message } from "@memfold/core"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { changeOf } from "./changes.js"
import { formOf, metadataOf } from "./form.js"

type Messages = ReadonlyArray<Message.Message>

const named = (message: Message.Message, id: string): Message.Message => ({
  ...message,
  ...metadataOf({ id }),
})

/** A turn: a question, perhaps a step with a tool, and an answer. */
const turn = (at: number, hasStep: boolean): Messages => {
  const id = `t${at}`
  return [
    named(Message.user(`question ${at % 3}`), `q${at}`),
    ...(hasStep
      ? [
          named(Message.call([{ id, name: "search", arguments: "{}" }]), `c${at}`),
          named(Message.result({ id, output: `found ${at}` }), `r${at}`),
        ]
      : []),
    named(Message.assistant(`answer ${at % 4}`), `a${at}`),
  ]
}

const isShown = ({ role, parts }: Message.Message): boolean =>
  role !== "tool" && parts.every(({ type }) => type === "text")

const shown = (messages: Messages) =>
  messages.filter(isShown).map((one) => `${one.role}: ${Message.text(one)}`)

const idsOf = (messages: Messages) => messages.map((one) => formOf(one).id)

/** The session after a list, of which first so many of the newest messages are read, and then all. */
const applied = (stored: Messages, given: Messages, window: number): Messages => {
  const start = Math.max(stored.length - window, 0)
  const change =
    changeOf(given, { messages: stored.slice(start), from: start }) ??
    changeOf(given, { messages: stored, from: 0 })
  const { from, added } = change ?? { from: null, added: given }
  return [...stored.slice(0, from ?? stored.length), ...added]
}

/** A session and a page of it, which has gone back some messages and ends with something new, or with a question. */
const scenes = fc
  .record({
    steps: fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
    back: fc.nat({ max: 6 }),
    hides: fc.boolean(),
    edits: fc.boolean(),
    adds: fc.boolean(),
    trims: fc.nat({ max: 4 }),
  })
  .map(({ steps, back, hides, edits, adds, trims }) => {
    const stored = steps.flatMap((hasStep, at) => turn(at, hasStep))
    const list = stored.filter((one) => !hides || isShown(one))
    const kept = list.slice(0, Math.max(list.length - back, 1))
    const last = kept.at(-1)!
    const edited =
      edits && isShown(last) ? [...kept.slice(0, -1), { ...last, ...Message.user("edited") }] : kept
    const given = [
      ...edited.map((one, at) =>
        one === last || at < edited.length - 1 ? one : { ...one, metadata: last.metadata! },
      ),
      ...(adds ? [named(Message.user("new"), "new")] : []),
    ]
    return { stored, given: given.slice(Math.min(trims, given.length - 1)) }
  })

describe("a list", () => {
  it("with ids is what the session has afterwards, behind what the list begins with", () => {
    fc.assert(
      fc.property(scenes, fc.integer({ min: 8, max: 40 }), ({ stored, given }, window) => {
        const now = applied(stored, given, Math.max(window, given.length))
        const page = shown(given)
        expect(shown(now).slice(-page.length || Number.POSITIVE_INFINITY)).toEqual(page)
        expect(idsOf(applied(now, given, 100))).toEqual(idsOf(now))
      }),
      { numRuns: often(300, 3_000) },
    )
  })

  it("without ids is what the session has afterwards, if it has an answer of the session", () => {
    fc.assert(
      fc.property(scenes, ({ stored, given }) => {
        const page = shown(given)
        fc.pre(
          idsOf(given)[0] === "q0" && idsOf(given).includes("a0") && page.includes("assistant: answer 0"),
        )
        const nameless = given.map(({ metadata: _metadata, ...message }) => message)
        const now = applied(stored, nameless, 100)
        expect(shown(now)).toEqual(page)
        expect(applied(now, nameless, 100)).toEqual(now)
      }),
      { numRuns: often(200, 2_000) },
    )
  })
})
