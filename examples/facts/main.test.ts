import { expect, it, vi } from "vitest"

it("prints what is known at three dates, with quotes, and what was made up", async () => {
  vi.stubEnv("AI_MODEL", undefined)
  const printed = vi.spyOn(console, "log").mockImplementation(() => {})
  try {
    await import("./main.js")
    expect(printed.mock.calls.map((words) => words.join(" ").replaceAll(/ +/g, " ").trim())).toEqual([
      "2024-03-01: vegetarian, in Graz, allergic to nothing",
      'diet: vegetarian "I am vegetarian"',
      'city: Graz "live in Graz"',
      "2024-12-01: vegetarian, in Vienna, allergic to nuts",
      'diet: vegetarian "I am vegetarian"',
      'city: Vienna "live in Vienna"',
      'allergy: nuts "allergic to nuts"',
      "2025-06-01: vegan, in Vienna, allergic to nuts and pollen",
      'diet: vegan "I am vegan"',
      'city: Vienna "live in Vienna"',
      'allergy: nuts "allergic to nuts"',
      'allergy: pollen "allergic to pollen"',
      "refused: not-said 3, not-declared 3",
    ])
  } finally {
    printed.mockRestore()
    vi.unstubAllEnvs()
  }
})
