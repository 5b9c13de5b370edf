import { describe, expect, it } from "vitest"
import { prose } from "./prose.js"
import { sentences } from "./sentences.js"

const found = (text: string) =>
  sentences(prose(text)).map(
    ({ text, question, quoted }) => `${quoted ? "> " : ""}${text}${question ? " ?" : ""}`,
  )

describe("sentences", () => {
  it("end with their stops, not within names, numbers and files", () => {
    expect(found("I use Node 20.19. It works! See Dr. Smith, e.g. today; J. R. too. Done")).toEqual([
      "I use Node 20.19.",
      "It works!",
      "See Dr. Smith, e.g. today;",
      "J. R. too.",
      "Done",
    ])
    expect(found("我叫小明。我住在北京！你呢？")).toEqual(["我叫小明。", "我住在北京！", "你呢？ ?"])
  })

  it("know a question, also one without a mark", () => {
    expect(found("Do I like tea?! I do.")).toEqual(["Do I like tea?! ?", "I do."])
    expect(found("What?!?... Yes")).toEqual(["What?!?... ?", "Yes"])
    expect(found("我叫什么名字。我喜欢茶吗")).toEqual(["我叫什么名字。 ?", "我喜欢茶吗 ?"])
  })

  it("know what begins within a quotation or behind a colon", () => {
    expect(found('He said "I am tired. I live in Rome." Then he left.')).toEqual([
      'He said "I am tired.',
      '> I live in Rome."',
      "Then he left.",
    ])
    expect(found("他说：“我叫小明。我住在北京。”好吧。")).toEqual(["他说：“我叫小明。我住在北京。”好吧。"])
    expect(found("Translate: I like tea. I live in Rome.")).toEqual([
      "Translate: I like tea. I live in Rome.",
    ])
    expect(found("BTW: I like tea. I do.")).toEqual(["BTW: I like tea.", "I do."])
    expect(found('"First line\nI live in Rome.\n\nI live in Graz.')).toEqual([
      '"First line',
      "> I live in Rome.",
      "I live in Graz.",
    ])
  })
})
