/** The pictures of the strategies are what a replay gives: `npx vitest run site/src/rhythm.test.ts -u` draws them again. */
import { expect, it } from "vitest"
import { rhythmOf, rhythms } from "./rhythm.js"

it.each(rhythms)("the picture of $strategy shows its replay", async (rhythm) => {
  await expect(await rhythmOf(rhythm)).toMatchFileSnapshot(`../../docs/strategies/${rhythm.file}.svg`)
})
