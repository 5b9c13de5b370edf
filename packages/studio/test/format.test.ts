/** Numbers as the page writes them. */
import { expect, it } from "vitest"
import { percent } from "../src/page/format.js"

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
