import { LanguageModel } from "@effect/ai"
import { describe, expect, it } from "@effect/vitest"
import { MemoryLayers, Message, type Prompt } from "@memfold/core"
import { Data, Effect, Exit, Stream } from "effect"
import { foundBy, known, sessionOf } from "../../test/facts.js"
import { modelExtractor, type ModelOptions } from "./modelExtractor.js"

const messages = [Message.user("I like tea, and my secret word is xyzzy"), Message.assistant("Noted.")]

const extract = (
  options: ModelOptions,
  given: ReadonlyArray<Message.Message> = messages,
  facts: ReadonlyArray<MemoryLayers.FactInTime> = [],
  from = 0,
) =>
  foundBy(modelExtractor(options), {
    state: sessionOf(given),
    from,
    to: from + given.length,
    messages: given,
    known: facts,
    declared: null,
  })

const answer = JSON.stringify({
  facts: [{ layer: "user", kind: "preference", key: "taste:tea", text: "Likes tea", quote: "I like tea" }],
})

/** A model that always answers the same, and what it was asked. */
const modelThat = (answers: string) => {
  const asked: Array<Prompt.Prompt> = []
  const ask = (prompt: Prompt.Prompt) =>
    Effect.sync(() => {
      asked.push(prompt)
      return answers
    })
  return { ask, asked }
}

class ProviderError extends Data.TaggedError("ProviderError")<{ readonly body: string }> {}

describe("modelExtractor", () => {
  it.effect("asks the model for facts with quotes", () =>
    Effect.gen(function* () {
      const { ask, asked } = modelThat(answer)
      const { facts } = yield* extract({ ask }, messages, [], 6)
      expect(facts).toMatchObject([
        { layer: "user", kind: "preference", key: "taste:tea", text: "Likes tea", quote: "I like tea" },
      ])
      expect(asked).toHaveLength(1)
      expect(asked[0]?.user).toContain("I like tea")
    }),
  )

  it.effect("shows the newest known facts that can be updated, and no digests", () =>
    Effect.gen(function* () {
      const { ask, asked } = modelThat(answer)
      const facts = [
        ...Array.from({ length: 150 }, (_, at) =>
          known(`p${at}`, `place ${at}.`, { layer: "user", kind: "profile" }),
        ),
        known("d", "a digest"),
        known("plan", "Plan: ship it", { kind: "plan" }),
      ]
      yield* extract({ ask }, messages, facts)
      const user = asked[0]?.user ?? ""
      expect(user).toContain("Plan: ship it")
      expect(user).not.toContain("a digest")
      expect(user).toContain("place 149.")
      expect(user).not.toContain("place 49.")
    }),
  )

  it.effect("does not ask where nobody has spoken", () =>
    Effect.gen(function* () {
      const { ask, asked } = modelThat(answer)
      expect((yield* extract({ ask }, [Message.system("rules")])).facts).toEqual([])
      expect((yield* extract({ ask }, [])).facts).toEqual([])
      expect(asked).toEqual([])
    }),
  )

  it.effect("asks several times about what does not fit into one prompt, without losing a message", () =>
    Effect.gen(function* () {
      const { ask, asked } = modelThat(answer)
      const many = Array.from({ length: 20 }, (_, at) =>
        at % 2 === 0
          ? Message.user(`question ${at}.`)
          : Message.assistant(`answer ${at}. ${"x".repeat(250 + 20 * at)}`),
      )
      const { facts } = yield* extract({ ask, maxCharacters: 1_000 }, many, [], 100)
      expect(asked.length).toBeGreaterThan(3)
      for (let at = 0; at < 20; at++) {
        expect(
          asked.filter(({ user }) => user.includes(`${at % 2 === 0 ? "question" : "answer"} ${at}.`)),
        ).toHaveLength(1)
      }
      expect(facts).toHaveLength(asked.length)
      // Cut where a user speaks, for the most part.
      expect(asked.every(({ user }) => /#1\] user:/.test(user))).toBe(true)
    }),
  )

  it.effect("fails with a typed error that repeats nothing, however the model fails", () =>
    Effect.gen(function* () {
      const failing: ReadonlyArray<readonly [ModelOptions["ask"], RegExp]> = [
        [() => Effect.fail(new ProviderError({ body: "xyzzy" })), /could not be asked \(ProviderError\)/],
        [() => Effect.fail({ _tag: "I heard xyzzy" }), /could not be asked;/],
        [() => Effect.fail("xyzzy"), /could not be asked;/],
        [() => Effect.die(new Error("xyzzy")), /could not be asked;/],
        [() => Effect.promise(() => Promise.reject(new Error("xyzzy"))), /could not be asked;/],
        [
          () => {
            throw new Error("xyzzy")
          },
          /could not be asked;/,
        ],
        [() => Effect.succeed("The secret word is xyzzy"), /not the JSON/],
        [() => Effect.succeed(undefined as unknown as string), /could not be asked|not the JSON/],
      ]
      for (const [ask, expected] of failing) {
        const error = yield* Effect.flip(extract({ ask }))
        expect(error).toBeInstanceOf(MemoryLayers.LayersError)
        expect(error.message).toMatch(expected)
        expect(JSON.stringify(error) + error.message).not.toContain("xyzzy")
      }
    }),
  )

  it.effect("can be interrupted", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(extract({ ask: () => Effect.interrupt }))
      expect(Exit.isInterrupted(exit)).toBe(true)
    }),
  )

  it("refuses a size that no round fits into", () => {
    const ask = () => Effect.succeed(answer)
    expect(() => modelExtractor({ ask, maxCharacters: 10 })).toThrow(RangeError)
    expect(() => modelExtractor({ ask, maxCharacters: Number.NaN })).toThrow(RangeError)
  })

  // The README shows this.
  it.effect("works over @effect/ai's LanguageModel", () =>
    Effect.gen(function* () {
      const model = yield* LanguageModel.LanguageModel
      const extractor = modelExtractor({
        name: "gpt-5-mini",
        ask: ({ system, user }) =>
          model
            .generateText({
              prompt: [
                { role: "system", content: system },
                { role: "user", content: [{ type: "text", text: user }] },
              ],
            })
            .pipe(Effect.map((response) => response.text)),
      })
      const found = yield* foundBy(extractor, {
        state: sessionOf(messages),
        from: 0,
        to: 2,
        messages,
        known: [],
        declared: null,
      })
      expect(found.facts.map(({ text }) => text)).toEqual(["Likes tea"])
    }).pipe(
      Effect.provideServiceEffect(
        LanguageModel.LanguageModel,
        LanguageModel.make({
          generateText: () => Effect.succeed([{ type: "text", text: answer }]),
          streamText: () => Stream.empty,
        }),
      ),
    ),
  )
})
