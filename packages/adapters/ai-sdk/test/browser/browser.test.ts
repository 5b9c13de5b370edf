/** `useChat` in a real browser, with the route of the README and a strict server of the provider behind it. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { launchOptions } from "@memfold/harness/chromium"
import { type Answer, type ModelRequest, providerServer } from "@memfold/strict-providers"
import { stepCountIs, tool } from "ai"
import { createMemory } from "memfold"
import { chromium } from "playwright-core"
import { expect, it } from "vitest"
import { z } from "zod"
import { aiSdk } from "../../src/index.js"
import { saidIn } from "../Page.js"
import { routeOf } from "../route.js"
import { application } from "./server.js"

it("a page edits, regenerates, reloads, goes back and aborts, and the model gets what it shows", async () => {
  await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
  let hold: Promise<void> | null = null
  let asked: () => void = () => undefined
  let release: () => void = () => undefined
  const answer = async ({ turn, afterResult }: ModelRequest): Promise<Answer> => {
    if (hold === null) return { thinking: "Hm.", text: `answer ${turn}` }
    if (!afterResult) return { thinking: "Hm.", calls: [{ name: "lookUp", arguments: { request: "it" } }] }
    asked()
    await hold
    return { text: "The answer is seven." }
  }
  const provider = await providerServer({ answer })
  const anthropic = createAnthropic({ baseURL: `${provider.anthropicURL}/v1`, apiKey: "local" })
  const lookUp = tool({
    inputSchema: z.object({ request: z.string() }),
    execute: async ({ request }) => `about ${request}`,
  })
  const model = anthropic("claude-sonnet-5-5")
  const { POST, GET } = routeOf(memory, model, { tools: { lookUp }, stopWhen: stepCountIs(5) })
  const app = await application({
    "POST /api/chat": POST,
    "GET /api/chat": () => GET("chat"),
    "POST /api/first-branch": async () => Response.json(await memory.checkout("chat", 0)),
  })
  const browser = await chromium.launch(launchOptions())
  try {
    const page = await browser.newPage()
    const errors: Array<string> = []
    page.on("pageerror", ({ message }) => errors.push(message))
    const shows = async (...said: ReadonlyArray<string>) => {
      await page.waitForFunction((expected) => {
        const main = document.querySelector("main")
        const shown = Array.from(document.querySelectorAll("p"), ({ textContent }) => textContent)
        return main?.dataset["status"] === "ready" && JSON.stringify(shown) === expected
      }, JSON.stringify(said))
      expect(saidIn(await aiSdk(memory).session("chat").uiMessages())).toEqual(said)
    }
    /** What the model got in the newest request: the texts, without its answer. */
    const received = () => {
      const sent = provider.received.at(-1)?.body["messages"] as ReadonlyArray<{
        readonly role: string
        readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string }>
      }>
      return sent.map(({ role, content }) => `${role} ${content.map(({ text }) => text ?? "").join("")}`)
    }
    const click = (name: string, nth = 0) => page.getByRole("button", { name, exact: true }).nth(nth).click()
    const write = (text: string) => page.getByLabel("Text").fill(text)
    await page.goto(app.url)
    const first = ["user one", "assistant answer 0", "user two", "assistant answer 1"]
    await write("one")
    await click("Send")
    await shows(...first.slice(0, 2))
    await write("two")
    await click("Send")
    await shows(...first)

    await write("won")
    await click("Edit")
    await shows("user won", "assistant answer 2")
    expect(received()).toEqual(["user won"])

    await page.reload()
    await shows("user won", "assistant answer 2")
    await click("Regenerate")
    await shows("user won", "assistant answer 3")
    expect(received()).toEqual(["user won"])

    await click("First branch")
    await shows(...first)
    await write("three")
    await click("Send")
    await shows(...first, "user three", "assistant answer 4")
    expect(received()).toEqual([...first, "user three"])

    hold = new Promise((resolve) => (release = resolve))
    const reached = new Promise<void>((resolve) => (asked = resolve))
    await write("four")
    await click("Send")
    await reached
    await click("Stop")
    await page.waitForFunction(() => document.querySelector("main")?.dataset["status"] === "ready")
    release()
    const end = "assistant The answer is seven."
    for await (const { event } of memory.subscribe("chat", { pollInterval: "10 millis" })) {
      if (event._tag === "MessageAppended" && JSON.stringify(event.message).includes("seven")) break
    }
    await page.reload()
    await shows(...first, "user three", "assistant answer 4", "user four", end)
    expect(errors).toEqual([])
    expect(provider.refused.map(({ violations }) => violations)).toEqual([])
  } finally {
    release()
    await browser.close()
    await app.close()
    await provider.close()
  }
})
