/** The first block of the README, run as it is with each major of the AI SDK that it names. */
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { createMemory } from "memfold"
import { describe, expect, it } from "vitest"
import { versions } from "@memfold/harness/aiSdkVersions"

const here = new URL(".", import.meta.url)
const readme = await readFile(new URL("../README.md", here), "utf8")
const block = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? ""
const named = [...(/of `ai` ([^.]*)\./.exec(readme)?.[1] ?? "").matchAll(/\d+/g)].map(([major]) =>
  Number(major),
)

interface Block {
  readonly answer: (id: string, text: string) => Promise<{ readonly consumeStream: () => PromiseLike<void> }>
}

/** What the block of a test gets in place of its model and its file. */
const given = globalThis as unknown as Record<string, unknown>

/** Replaces a part of the block that has to be there. */
const replaced = (source: string, part: string, by: string): string => {
  expect(source).toContain(part)
  return source.replace(part, by)
}

describe("the first block of the README", () => {
  it("is for the majors that are tested", () => {
    expect(named).toEqual(versions.map(({ major }) => major))
  })

  for (const { name, major, model } of versions) {
    it(`stores the question and the answer: ${name}`, async () => {
      await using memory = createMemory({ store: "memory:" })
      given[`model${major}`] = model(() => ({ text: "It is on its way." })).model
      given[`memory${major}`] = memory
      const folder = new URL(".examples/", here)
      await mkdir(folder, { recursive: true })
      const file = new URL(`readme-${major}.ts`, folder)
      const alias = major === 7 ? "ai" : `ai${major}`
      const ofMemory = 'createMemory({ store: "sqlite:chats.db" })'
      const source = [
        [' from "ai"', ` from "${alias}"`],
        [ofMemory, `globalThis.memory${major}`],
        ['"openai/gpt-6.2-sol"', `globalThis.model${major}`],
      ].reduce((text, [part, by]) => replaced(text, part!, by!), block)
      await writeFile(file, source)
      const { answer } = (await import(/* @vite-ignore */ file.href)) as Block
      for (const text of ["Where is my order?", "And the other one?"])
        await (await answer("chat", text)).consumeStream()
      const { messages } = await memory.neutral.messages("chat")
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"])
      expect(messages.at(-1)?.parts).toMatchObject([{ type: "text", text: "It is on its way." }])
    })
  }
})
