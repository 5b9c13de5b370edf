import { describe, expect, it } from "vitest"
import { atOnce } from "@memfold/log/breathe"
import { timeInQuery as inSteps } from "./timeInQuery.js"

/** A Wednesday, at three in the afternoon of UTC. */
const now = Date.UTC(2026, 4, 13, 15)

const timeInQuery = (...given: Parameters<typeof inSteps>) => atOnce(inSteps(...given))

const day = (time: number): string => new Date(time).toISOString().slice(0, 16).replace("T00:00", "")
const spanOf = (query: string, timeZone = "UTC"): ReadonlyArray<string> | null => {
  const found = timeInQuery(query, now, timeZone)
  return found === null ? null : [day(found.span.from), day(found.span.to)]
}

describe("the time in a query", () => {
  it.each([
    ["What did I order today?", "2026-05-13", "2026-05-14"],
    ["yesterday evening", "2026-05-12T17:00", "2026-05-13"],
    ["what was said last night", "2026-05-12T20:00", "2026-05-13T06:00"],
    ["this morning", "2026-05-13T05:00", "2026-05-13T12:00"],
    ["the day before yesterday", "2026-05-11", "2026-05-12"],
    ["Which order was late last week?", "2026-05-04", "2026-05-11"],
    ["this month", "2026-05-01", "2026-06-01"],
    ["three weeks ago", "2026-04-20", "2026-04-27"],
    ["2 days ago", "2026-05-11", "2026-05-12"],
    ["a year ago", "2025-01-01", "2026-01-01"],
    ["what happened in March", "2026-03-01", "2026-04-01"],
    ["in August", "2025-08-01", "2025-09-01"],
    ["May 2023", "2023-05-01", "2023-06-01"],
    ["on 7 May 2023", "2023-05-07", "2023-05-08"],
    ["May 7th", "2026-05-07", "2026-05-08"],
    ["December 24", "2025-12-24", "2025-12-25"],
    ["on Monday", "2026-05-11", "2026-05-12"],
    ["last Friday afternoon", "2026-05-08T12:00", "2026-05-08T18:00"],
    ["2026-02-28", "2026-02-28", "2026-03-01"],
    ["between March 3 and April 5", "2026-03-03", "2026-04-06"],
    ["from 2026-01-01 to 2026-01-31", "2026-01-01", "2026-02-01"],
    ["in 2024", "2024-01-01", "2025-01-01"],
    ["Was habe ich gestern Abend bestellt?", "2026-05-12T17:00", "2026-05-13"],
    ["vorgestern", "2026-05-11", "2026-05-12"],
    ["letzte Woche", "2026-05-04", "2026-05-11"],
    ["vor zwei Tagen", "2026-05-11", "2026-05-12"],
    ["im März", "2026-03-01", "2026-04-01"],
    ["am 7. Mai 2023", "2023-05-07", "2023-05-08"],
    ["7.5.2023", "2023-05-07", "2023-05-08"],
    ["letzten Montag", "2026-05-11", "2026-05-12"],
    ["Qu'ai-je dit hier soir ?", "2026-05-12T17:00", "2026-05-13"],
    ["la semaine dernière", "2026-05-04", "2026-05-11"],
    ["il y a trois jours", "2026-05-10", "2026-05-11"],
    ["en février", "2026-02-01", "2026-03-01"],
    ["le 7 mai 2023", "2023-05-07", "2023-05-08"],
    ["aujourd’hui", "2026-05-13", "2026-05-14"],
    ["¿Qué pedí ayer?", "2026-05-12", "2026-05-13"],
    ["la semana pasada", "2026-05-04", "2026-05-11"],
    ["hace dos meses", "2026-03-01", "2026-04-01"],
    ["el 7 de mayo de 2023", "2023-05-07", "2023-05-08"],
    ["anoche", "2026-05-12T20:00", "2026-05-13T06:00"],
    ["昨天晚上说了什么", "2026-05-12T17:00", "2026-05-13"],
    ["上周的订单", "2026-05-04", "2026-05-11"],
    ["三天前", "2026-05-10", "2026-05-11"],
    ["2023年5月7日", "2023-05-07", "2023-05-08"],
    ["三月", "2026-03-01", "2026-04-01"],
    ["上周五", "2026-05-08", "2026-05-09"],
    ["从3月1日到3月5日", "2026-03-01", "2026-03-06"],
  ])("%s", (query, from, to) => {
    expect(spanOf(query)).toEqual([from, to])
  })

  it.each([
    "May I ask you something?",
    "Where is May's order?",
    "march on",
    "version 2023",
    "der Morgen",
    "one",
    "",
    "今",
  ])("is none in %j", (query) => {
    expect(spanOf(query)).toBeNull()
  })

  it("is left out of the words", () => {
    const wordsOf = (query: string) => timeInQuery(query, now, "UTC")?.words
    expect(wordsOf("Which order was late last week?")).toBe("Which order was late ?")
    expect(wordsOf("orders between March 3 and April 5")).toBe("orders")
    expect(wordsOf("yesterday evening")).toBe("")
    expect(wordsOf("上周的订单")).toBe("的订单")
  })

  it("is of the time zone of whoever asks, also when its clocks change", () => {
    expect(spanOf("yesterday", "Asia/Tokyo")).toEqual(["2026-05-12T15:00", "2026-05-13T15:00"])
    const summer = timeInQuery("today", Date.UTC(2026, 2, 29, 10), "Europe/Vienna")!
    expect([day(summer.span.from), day(summer.span.to)]).toEqual(["2026-03-28T23:00", "2026-03-29T22:00"])
  })
})
