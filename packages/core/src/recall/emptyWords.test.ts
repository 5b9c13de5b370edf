/** Queries of a time and no topic, as people ask: each way to ask with each time of its language. */
import { describe, expect, it } from "vitest"
import { atOnce } from "@memfold/log/breathe"
import { hasNoTopic } from "./emptyWords.js"
import { timeInQuery } from "./timeInQuery.js"

/** How a language names times, and how it asks: the time stands at `{}`, a topic at none of these. */
interface Asked {
  readonly times: ReadonlyArray<string>
  readonly ways: ReadonlyArray<string>
  /** What somebody asks of a topic. */
  readonly topics: ReadonlyArray<string>
}

const languages: Readonly<Record<string, Asked>> = {
  English: {
    times: ["yesterday", "last week", "on Monday", "two days ago", "this morning"],
    ways: [
      "What happened {}?",
      "what were we talking about {}",
      "Give me a summary of what was said {}",
      "Summarise what we discussed {}",
      "Remind me what I told you {}",
      "Do you remember what we said {}?",
      "What topics came up {}?",
      "How did we leave things {}?",
      "where did we leave off {}",
      "What did I miss {}?",
      "Any news {}?",
      "What was going on {}?",
      "What have we been working on {}?",
      "Anything interesting {}?",
      "Let's go over {}",
    ],
    topics: ["What did Bob say {}?", "Which order came {}?", "Was the invoice mentioned {}?"],
  },
  German: {
    times: ["gestern", "letzte Woche", "am Montag", "vor zwei Tagen", "heute Morgen"],
    ways: [
      "Was ist {} passiert?",
      "Was hab ich {} gefragt?",
      "Was stand {} an?",
      "Kannst du mir sagen, was {} war?",
      "Könntest du erzählen, was {} los war?",
      "Erzähl mir, was {} passiert ist",
      "Fass zusammen, was wir {} besprochen haben",
      "Zusammenfassung: {}",
      "Was kam {} heraus?",
      "Wo sind wir {} stehen geblieben?",
      "Woran haben wir {} gearbeitet?",
      "Was haben wir {} alles beredet?",
    ],
    topics: ["Was hat Anna {} gesagt?", "Was war {} mit der Rechnung?", "Wie ging es {} dem Hund?"],
  },
  French: {
    times: ["hier", "la semaine dernière", "lundi dernier", "il y a deux jours", "hier soir"],
    ways: [
      "Qu'est-ce qui s'est passé {} ?",
      "Peux-tu me rappeler ce qu'on a dit {} ?",
      "Dis-moi ce qui s'est passé {}",
      "Où en étions-nous {} ?",
      "Quoi de neuf depuis {} ?",
      "Sur quoi portait notre discussion {} ?",
      "Résumé : {}",
      "Que m'as-tu raconté {} ?",
      "C'était quoi {} ?",
      "Tu te souviens de ce qu'on a dit {} ?",
    ],
    topics: ["Qu'a dit Marie {} ?", "Où était la facture {} ?"],
  },
  Spanish: {
    times: ["ayer", "la semana pasada", "el lunes", "hace dos días", "anoche"],
    ways: [
      "¿Qué pasó {}?",
      "¿Te acuerdas de lo que hablamos {}?",
      "¿Puedes recordarme qué dijimos {}?",
      "Dime qué pasó {}",
      "Hazme un resumen de lo que hablamos {}",
      "Resumen de {}",
      "¿En qué quedamos {}?",
      "¿Por dónde íbamos {}?",
      "Resúmeme lo que hablamos {}",
    ],
    topics: ["¿Qué dijo Ana {}?", "¿Dónde estaba la factura {}?"],
  },
  Chinese: {
    times: ["昨天", "上周", "三天前", "昨晚"],
    ways: [
      "{}发生了什么？",
      "{}我们聊到哪里了？",
      "你还记得{}我们说过什么吗？",
      "{}的情况怎么样？",
      "请总结一下{}的对话",
      "{}咱们都聊啥了",
      "{}有什么新消息吗？",
    ],
    topics: ["{}小王说了什么", "{}的订单怎么样"],
  },
}

const wordsOf = (query: string): string => {
  const found = atOnce(timeInQuery(query, Date.UTC(2026, 4, 13, 15), "UTC"))
  if (found === null) throw new Error(`no time in ${query}`)
  return found.words
}

describe.each(Object.entries(languages))("%s", (_, { times, ways, topics }) => {
  const filled = (all: ReadonlyArray<string>) =>
    all.flatMap((way) => times.map((time) => way.replace("{}", time)))

  it.each(filled(ways))("asks for a time alone: %s", (query) => {
    expect(hasNoTopic(wordsOf(query))).toBe(true)
  })

  it.each(filled(topics))("asks for a topic: %s", (query) => {
    expect(hasNoTopic(wordsOf(query))).toBe(false)
  })
})

it("has a time in its adjective, too", () => {
  expect(hasNoTopic(wordsOf("Worum ging es in unserem gestrigen Gespräch?"))).toBe(true)
})
