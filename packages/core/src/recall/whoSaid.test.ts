import { describe, expect, it } from "vitest"
import { Message } from "../index.js"
import { asksForThePast, marksOf, speakersIn } from "./whoSaid.js"

const roleMark = (query: string) => speakersIn(query, [])

describe("who is asked about", () => {
  it.each([
    ["Which hotel did you recommend?", ":assistant"],
    ["You told me about a book.", ":assistant"],
    ["What was your advice on the loan?", ":assistant"],
    ["What did I say about the loan?", ":user"],
    ["What has the user said about nuts? The user said something.", ":user"],
    ["Welches Hotel hast du empfohlen?", ":assistant"],
    ["Was haben Sie zum Kredit geraten?", ":assistant"],
    ["Was habe ich über den Kredit gesagt?", ":user"],
    ["Quel hôtel m'as-tu recommandé ?", ":assistant"],
    ["Qu'ai-je dit du prêt ?", ":user"],
    ["¿Qué hotel me recomendaste?", ":assistant"],
    ["¿Qué dije del préstamo?", ":user"],
    ["你推荐了哪家酒店？", ":assistant"],
    ["关于贷款我说过什么？", ":user"],
  ])("%s", (query, mark) => {
    expect(roleMark(query)).toEqual([mark])
  })

  it.each(["Where is the hotel?", "What did Ann say?", "Der Kredit ist teuer.", "贷款是什么？"])(
    "is no role: %s",
    (query) => {
      expect(roleMark(query)).toEqual([])
    },
  )

  it("may be anybody whose name is in the query", () => {
    expect(speakersIn("Where did Ann live?", ["ann", "live"])).toEqual(["@ann", "@live"])
    expect(marksOf({ ...Message.user("Well?"), name: "Ann Lee" }, "Well?")).toEqual([
      ":user",
      "@ann",
      "@lee",
      "?",
    ])
  })
})

describe("a message that may need the past", () => {
  it.each([
    "Where does my order go?",
    "tell me what we decided",
    "Wo ist meine Bestellung",
    "Dis-moi ce que tu as proposé",
    "Dime qué pedí",
    "我们决定了什么",
    "You mentioned a restaurant.",
  ])("asks: %s", (text) => {
    expect(asksForThePast(text)).toBe(true)
  })

  it.each([
    "That sounds great, thanks!",
    "See https://shop.example/?order=1",
    "const a = b ?c : d",
    "Ich freue mich.",
    "太好了。",
  ])("does not: %s", (text) => {
    expect(asksForThePast(text)).toBe(false)
  })

  it("takes time linear in the length", () => {
    for (const part of ["you ", "?x", "m'", "告诉", " did"]) asksForThePast(part.repeat(50_000))
  })
})
