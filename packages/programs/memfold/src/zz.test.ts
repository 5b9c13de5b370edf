import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { it } from "vitest"
import { createMemory, Fact, rules } from "./index.js"
it("forty sessions", { timeout: 500_000 }, async () => {
  const all = JSON.parse(readFileSync("/work/shared/data/longmemeval/histories.json", "utf8"))
  for (const history of all.slice(0, 3)) {
    const sessions = history.haystack_sessions ?? history.sessions
    const dates: string[] = history.haystack_dates ?? history.dates
    const text = { schema: Schema.String }
    const declared = {
      name: Fact.of({ ...text, single: true }), place: Fact.of({ ...text, single: true }), role: Fact.of({ ...text, single: true }),
      workplace: Fact.of({ ...text, single: true }), taste: Fact.of(text), habit: Fact.of(text), favourite: Fact.of(text), allergy: Fact.of(text), diet: Fact.of(text), instruction: Fact.of(text), "name-of": Fact.of(text), age: Fact.of({...text, single: true}), birthday: Fact.of({...text, single: true}),
    }
    const order = dates.map((d, i) => [Date.parse(d.replace(/\(.*?\)/, "") + " UTC"), i] as const).sort((a, b) => a[0] - b[0]).slice(0, 40)
    const memory = createMemory({ store: "memory:", facts: declared, layers: { extractor: rules }, compaction: { mode: "inline" } })
    let messages = 0
    const began = performance.now()
    const refused: Record<string, number> = {}
    for (const [time, i] of order) {
      const list = sessions[i].map((m: any, k: number) => ({ role: m.role, parts: [{ type: "text", text: m.content }], time: time + k * 60_000 }))
      messages += list.length
      await memory.neutral.append(`s${i}`, list, { owner: "ann" })
      for await (const { event } of memory.events(`s${i}`)) if (event._tag === "FactsLearned") for (const [k, v] of Object.entries(event.refused ?? {})) refused[k] = (refused[k] ?? 0) + v
    }
    const took = performance.now() - began
    console.log(`${order.length} sessions, ${messages} messages, ${(took / messages).toFixed(2)} ms a message, refused ${JSON.stringify(refused)}`)
    const first = order[0]![0], last = order.at(-1)![0]
    for (const at of [first + 3600_000, (first + last) / 2, last + 864e5]) {
      const facts = await memory.factsOf("ann", { at })
      console.log(new Date(at).toISOString().slice(0, 16), Object.entries(facts).map(([k, v]) => `${k}: ${Array.isArray(v) ? v.length : v === undefined ? 0 : 1}`).filter((t) => !t.endsWith(" 0")).join(", "))
    }
    const ever = await memory.factsOf("ann", { at: null })
    console.log("ever", Object.values(ever).flat().filter(Boolean).length, "ended", (Object.values(ever).flat().filter(Boolean) as any[]).filter((f) => f.validUntil !== undefined).length, "several sources", (Object.values(ever).flat().filter(Boolean) as any[]).filter((f) => f.sources?.length > 1).length)
    await memory.close()
  }
})
it("cost per thousand messages", { timeout: 500_000 }, async () => {
  const { modelExtractor } = await import("./index.js")
  const { Effect } = await import("effect")
  const all = JSON.parse(readFileSync("/work/shared/data/longmemeval/histories.json", "utf8"))
  const history = all[0]
  const sessions = history.haystack_sessions ?? history.sessions
  for (const learnAt of ["turn", "compaction"] as const) {
    let requests = 0, tokens = 0
    const extractor = modelExtractor({ ask: ({ system, user }) => Effect.sync(() => { requests++; tokens += Math.ceil((system.length + user.length) / 4); return '{"facts": []}' }) })
    const memory = createMemory({ store: "memory:", strategy: "rounds", layers: { extractor, learnAt }, compaction: { mode: "inline" } })
    let n = 0
    for (const [i, session] of sessions.slice(0, 40).entries()) {
      for (let k = 0; k < session.length; k += 2) {
        const list = session.slice(k, k + 2).map((m: any) => ({ role: m.role, parts: [{ type: "text", text: m.content }] }))
        n += list.length
        await memory.neutral.append("one", list, { owner: "ann" })
      }
    }
    console.log(learnAt, n, "messages", "per 1,000:", ((requests / n) * 1000).toFixed(0), "requests", Math.round((tokens / n) * 1000), "tokens in")
    await memory.close()
  }
})
