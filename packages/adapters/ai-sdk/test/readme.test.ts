/** The first two blocks of the README, as they are, with each major version of `ai`: the answer is stored. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createMemory } from "memfold"
import { afterAll, describe, expect, it } from "vitest"
import { versions } from "@memfold/harness/aiSdkVersions"
import { eventually } from "@memfold/harness/eventually"

const root = fileURLToPath(new URL("..", import.meta.url))
/** Within the package, so that its dependencies are found. */
const folder = join(root, ".examples")
const blocks = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
  ([, code = ""]) => code,
)

/** Loads a block as a module, whose models are the ones of a test and whose file is its own. */
const load = async (index: number, major: number): Promise<Record<string, Function>> => {
  const name = `block-${index}-ai-${major}`
  const path = join(folder, `${name}.ts`)
  const code = (blocks[index] ?? "")
    .replace('from "ai"', `from "ai${major === 7 ? "" : major}"`)
    .replace('"@memfold/ai-sdk"', '"../src/index.js"')
    .replace("sqlite:chats.db", `sqlite:${join(folder, `${name}.db`)}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, `${code}\nexport const close = () => memory.close()\n`)
  return (await import(path)) as Record<string, Function>
}

/** What a session has, read from its file by another memory. */
const stored = async (index: number, major: number): Promise<ReadonlyArray<unknown>> => {
  const store = `sqlite:${join(folder, `block-${index}-ai-${major}.db`)}`
  await using memory = createMemory({ store })
  return (await memory.messages("chat-1")).messages.map(({ role, content }) => [role, content])
}

// Where a model is a text, the AI SDK asks this provider for it.
const provided = globalThis as { AI_SDK_DEFAULT_PROVIDER?: unknown }

afterAll(() => {
  delete provided.AI_SDK_DEFAULT_PROVIDER
  rmSync(folder, { recursive: true, force: true })
})

const said = [
  ["user", "Hello"],
  ["assistant", "Hello to you"],
]

describe("the README's blocks store the answer with", () => {
  for (const { name, major, model } of versions) {
    it(name, async () => {
      rmSync(folder, { recursive: true, force: true })
      const models = { languageModel: () => model(() => ({ text: "Hello to you" })).model }
      provided.AI_SDK_DEFAULT_PROVIDER = models
      const { answer, close } = await load(0, major)
      const result = (await answer!("chat-1", "Hello")) as {
        readonly text: PromiseLike<string>
        readonly consumeStream: () => PromiseLike<void>
      }
      // A stream is consumed once its callbacks have ended; its text is there before.
      await result.consumeStream()
      expect(await result.text).toBe("Hello to you")
      await close!()
      expect(await stored(0, major)).toEqual(said)

      const page = await load(1, major)
      const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "Hello" }] }]
      const body = JSON.stringify({ id: "chat-1", messages, trigger: "submit-message" })
      const asked = new Request("http://localhost/", { method: "POST", body })
      const response = (await page["POST"]!(asked)) as Response
      expect(await response.text()).toContain("Hello to you")
      await eventually("the answer is stored", async () => (await stored(1, major)).length === said.length)
      await page["close"]!()
      expect(await stored(1, major)).toEqual(said)
    })
  }
})
