/** Numbers as the page writes them. */
import { expect, it } from "vitest"
import { inWords, messages, percent } from "../src/page/format.js"

it("says 0 % of nothing alone, and 100 % of all alone", () => {
  expect([percent(0, 0), percent(0, 9), percent(1, 3), percent(9, 9)]).toEqual([
    "0 %",
    "0 %",
    "33 %",
    "100 %",
  ])
  expect(percent(1, 1_000)).toBe("< 1 %")
  expect(percent(153_284, 153_504)).toBe("> 99 %")
  expect(percent(132, 100)).toBe("132 %")
})

it("says ranges of messages and events as people do", () => {
  expect(messages({ from: 116, to: 164 })).toBe("messages 116 to 163")
  expect(messages({ from: 3, to: 4 })).toBe("message 3")
  expect(messages({ from: 3, to: 3 })).toBe("no message")
  expect(["SessionDescribed", "contextSize", "A + B"].map(inWords)).toEqual([
    "Session described",
    "context size",
    "A + B",
  ])
})
