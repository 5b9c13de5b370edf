/** Recall by meaning: vectors are a projection of the log, and nothing erased or of others is found by them. */
import { Message, Recall, Verify, type VectorIndex } from "@memfold/core"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { embedder } from "../../fakes/embedder.js"
import { canonical, type Law, makeLaw, must, same } from "../../law/Law.js"
import { withIndex } from "../../vectors/input.js"
import type { MemoryKit } from "../input.js"
import { messageOf } from "../words.js"
import { inWorld } from "../world.js"

/** What happens to a session. */
type Step =
  | { readonly act: "append"; readonly session: string; readonly messages: ReadonlyArray<Message.Message> }
  | { readonly act: "redact" | "redact elsewhere"; readonly session: string; readonly which: number }
  | { readonly act: "search" | "clear" | "delete" | "delete elsewhere"; readonly session: string }
  | { readonly act: "fork"; readonly session: string; readonly to: string }

/** Words and their synonyms. Messages have the word, and searches the synonym. */
const synonyms = [
  ["car", "vehicle"],
  ["doctor", "physician"],
  ["buy", "purchase"],
]

const names = ["a", "b"]
const secret = "q7secret7q"

const said = messageOf(["car", "doctor", "buy", "alpha", secret], 2)

const session = fc.constantFrom(...names)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant("append" as const),
      session,
      messages: fc.array(said, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ act: fc.constant("search" as const), session }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom("redact" as const, "redact elsewhere" as const),
      session,
      which: fc.nat(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom("clear" as const, "delete" as const, "delete elsewhere" as const),
      session,
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("fork" as const), session, to: session }) },
)

const append = (...texts: ReadonlyArray<string>): Step => ({
  act: "append",
  session: "a",
  messages: texts.map((text) => Message.user(text)),
})

/** Steps that once broke the law. */
const examples: ReadonlyArray<ReadonlyArray<Step>> = [
  // The vectors are those of a deleted log, in which other versions appended the messages.
  [
    append("buy"),
    append("car"),
    { act: "search", session: "a" },
    { act: "delete elsewhere", session: "a" },
    append("alpha", secret),
    { act: "redact", session: "a", which: 1 },
  ],
]

export const meaningLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L15",
    name: "recall by meaning finds what an index made anew finds, and nothing erased or of others",
    explanation:
      "Sessions are appended to, searched, cleared, forked, and redacted and deleted, also where the vectors are not at hand.\n" +
      "After a redaction, the message has no vectors. In the end, a memory that has searched all\n" +
      "along finds what a memory with a new vector index finds, the vectors belong to the log, no redacted message has any,\n" +
      "everything that means what is asked for is found, and nothing of another session or owner.",
    numRuns,
    arbitrary: fc.record({
      strategy: strategies,
      steps: fc.array(step, { minLength: 3, maxLength: 30, size: "max" }),
      query: fc.constantFrom("vehicle", "physician purchase", "alpha vehicle"),
    }),
    examples: examples.map((steps) => ({
      strategy: fc.sample(strategies, { numRuns: 1, seed: 1 })[0]!,
      steps: [...steps],
      query: "vehicle",
    })),
    describe: ({ strategy, steps, query }) =>
      `${strategy.name}; "${query}"\n${steps.map((one) => JSON.stringify(one)).join("\n")}`,
    holds: ({ strategy, steps, query }) =>
      inWorld(options, (world) => {
        const { vectorIndex } = options
        const inside = async (vectors: VectorIndex.Service) => {
          const opening = {
            strategy,
            embedder: embedder({ synonyms }),
            compaction: { mode: "manual" as const },
          }
          const memory = await world.open({ ...opening, vectors })
          /** It erases as a process that ends before it can tell the vector index. */
          const elsewhere = await world.open({ strategy, compaction: { mode: "manual" } })
          /** The texts of the messages of each session; `null` for a redacted one. */
          const book = new Map<string, Array<string | null>>()
          for (const one of steps) {
            const kept = book.get(one.session)
            if (one.act === "append") {
              await world.run(memory.append(one.session, one.messages, { owner: `owner of ${one.session}` }))
              book.set(one.session, [
                ...(kept ?? []),
                ...one.messages.map((message) => Message.text(message)),
              ])
            } else if (one.act === "search") await world.run(memory.recall(one.session, query))
            else if (one.act === "redact" || one.act === "redact elsewhere") {
              if (kept === undefined || kept.length === 0) continue
              const by = one.act === "redact" ? memory : elsewhere
              await world.run(by.redact(one.session, one.which % kept.length))
              kept[one.which % kept.length] = null
              const left = (await world.run(vectors.load(one.session)))?.entries ?? []
              must(
                by !== memory || left.every(({ index }) => index !== one.which % kept.length),
                () => `message ${one.which % kept.length} of ${one.session} was redacted and has vectors`,
              )
            } else if (one.act === "fork") {
              if (kept === undefined || book.has(one.to)) continue
              await world.run(memory.fork(one.session, one.to))
              await world.run(memory.describe(one.to, { owner: `owner of ${one.to}` }))
              book.set(one.to, [...kept])
            } else if (one.act === "clear") {
              await world.run(memory.clear(one.session))
              if (kept !== undefined) book.set(one.session, [])
            } else {
              await world.run((one.act === "delete" ? memory : elsewhere).delete(one.session))
              book.delete(one.session)
            }
          }
          const fresh = await world.open({ ...opening, vectors: Recall.vectorsInProcess() })
          for (const name of names) {
            const owner = `owner of ${name}`
            const tokens = 5_000
            const [found, anew, ofOwner, ofOwnerAnew] = await world.run(
              Effect.all([
                memory.recall(name, query, { tokens }),
                fresh.recall(name, query, { tokens }),
                memory.recallOf(owner, query, { tokens }),
                fresh.recallOf(owner, query, { tokens }),
              ]),
            )
            same(found, anew, () => `an index made anew finds something else in ${name}`)
            same(ofOwner, ofOwnerAnew, () => `an index made anew finds something else for ${owner}`)
            const findings = await world.run(Verify.session(world.log, name, { vectorIndex: vectors }))
            same(findings, [], () => `the vectors of ${name} do not belong to its log`)
            const texts = book.get(name) ?? []
            for (const { index, text } of found.messages)
              same(text, texts[index] ?? "[redacted]", () => `message ${index} of ${name}`)
            const wanted = query.includes("vehicle") ? "car" : "doctor"
            for (const [index, text] of texts.entries())
              must(
                text !== wanted || found.messages.some((one) => one.index === index),
                () => `message ${index} of ${name} means "${query}", and was not found`,
              )
            must(
              ofOwner.messages.every((one) => one.session === name),
              () => `a search for ${owner} found a message of another one`,
            )
            const stored = (await world.run(vectors.load(name)))?.entries ?? []
            same(
              stored.map((entry) => entry.index),
              texts.flatMap((text, index) => (text === null ? [] : [index])),
              () => `which messages of ${name} have vectors`,
            )
          }
          const left = await world.run(Stream.runCollect(vectors.sessions))
          for (const name of left) must(book.has(name), () => `the deleted session ${name} has vectors`)
          const erased = steps.every(
            (one) => one.act !== "append" || !canonical(one.messages).includes(secret),
          )
          if (!erased && ![...book.values()].flat().some((text) => text?.includes(secret) === true)) {
            for (const name of names) {
              const found = await world.run(memory.recall(name, secret))
              must(!canonical(found).includes(secret), () => "recall finds what was erased")
            }
          }
        }
        return vectorIndex === undefined
          ? inside(Recall.vectorsInProcess())
          : withIndex(typeof vectorIndex === "function" ? vectorIndex() : vectorIndex, (vectors) =>
              Effect.promise(() => inside(vectors)),
            )
      }),
  })
