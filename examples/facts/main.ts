/**
 * `npm run example -- facts`: what is known of a user after three conversations, at three dates, by an extractor that also lies.
 * Offline, with a model that is played; with `AI_MODEL=openai/gpt-6.2-mini` and the key of the AI Gateway, with a model.
 */
import { askForFacts } from "@memfold/ai-sdk"
import { createMemory, Fact, functionExtractor, modelExtractor } from "memfold"
import { Schema } from "effect"

const facts = {
  diet: Fact.of({
    schema: Schema.Literal("vegan", "vegetarian", "anything"),
    single: true,
    ask: "What the user eats.",
  }),
  city: Fact.of({ schema: Schema.String, single: true, ask: "Where the user lives." }),
  allergy: Fact.of({ schema: Schema.String, ask: "What the user is allergic to." }),
}

/** The model of an offline run: it reads three forms of sentences, and makes two things up each time. */
const played = functionExtractor(
  ({ messages }) =>
    messages.flatMap(({ role, text }) => {
      if (role !== "user") return []
      const [diet, city, allergy] = [/I am (vegan|vegetarian)/, /live in (\w+)/, /allergic to (\w+)/].map(
        (form) => form.exec(text),
      )
      return [
        ...(diet ? [{ predicate: "diet", value: diet[1], quote: diet[0] }] : []),
        ...(city ? [{ predicate: "city", value: city[1], quote: city[0] }] : []),
        ...(allergy ? [{ predicate: "allergy", value: allergy[1], quote: allergy[0] }] : []),
        { predicate: "diet", value: "anything", quote: "I eat anything" },
        { predicate: "income", value: 90_000, quote: text },
      ]
    }),
  { name: "played" },
)

const model = process.env["AI_MODEL"]
const memory = createMemory({
  store: "memory:",
  facts,
  layers: {
    extractor: model === undefined ? played : modelExtractor({ name: model, ask: askForFacts(model) }),
  },
  compaction: { mode: "manual" },
})

const said = [
  ["2024-01-10", "I am vegetarian and live in Graz. What is in season?"],
  ["2024-09-02", "I live in Vienna now, and I am allergic to nuts."],
  ["2025-03-15", "I am vegan these days. And allergic to pollen, sadly."],
] as const

for (const [at, [date, text]] of said.entries()) {
  const time = Date.parse(date)
  const messages = [
    { role: "user" as const, parts: [{ type: "text" as const, text }], time },
    { role: "assistant" as const, parts: [{ type: "text" as const, text: "Noted." }], time },
  ]
  await memory.neutral.append(`chat-${at + 1}`, messages, { owner: "ann" })
  await memory.compact(`chat-${at + 1}`, { which: "due" })
}

for (const date of ["2024-03-01", "2024-12-01", "2025-06-01"]) {
  const { diet, city, allergy } = await memory.factsOf("ann", { at: Date.parse(date) })
  console.log(
    `${date}: ${diet?.value}, in ${city?.value}, allergic to ${allergy.map(({ value }) => value).join(" and ") || "nothing"}`,
  )
  for (const fact of [diet, city, ...allergy])
    if (fact !== undefined) console.log(`    ${fact.text.padEnd(18)} "${fact.sources?.[0]?.quote}"`)
}

const refused = new Map<string, number>()
for await (const { event } of memory.eventsOf("ann"))
  if (event._tag === "FactsLearned")
    for (const [why, count] of Object.entries(event.refused ?? {}))
      refused.set(why, (refused.get(why) ?? 0) + count)
console.log("refused:", [...refused].map(([why, count]) => `${why} ${count}`).join(", "))
await memory.close()
