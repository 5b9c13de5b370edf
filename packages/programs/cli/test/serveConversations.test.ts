/** Conversations of `memfold serve` over a killed process: nothing that was acknowledged is lost, and a retry doubles nothing. */
import { environment, inFolder, program } from "@memfold/harness/program"
import { type Answer, providerServer } from "@memfold/strict-providers"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { expect, it } from "vitest"

const { folder } = inFolder("conversations")

type Json = Readonly<Record<string, unknown>>

it("survive a kill while a model answers", async () => {
  let gate: Promise<void> | null = null
  const upstream = await providerServer({
    answer: async ({ turn }): Promise<Answer> => {
      await gate
      return { text: `answer ${turn}` }
    },
  })
  const store = `sqlite:${join(folder, "chats.db")}`
  const serve = async (): Promise<{ child: ChildProcess; url: string }> => {
    const child = spawn(
      process.execPath,
      [program, "serve", "--port", "0", "--store", store, "--upstream", upstream.anthropicURL, "--quiet"],
      {
        cwd: folder,
        stdio: ["ignore", "pipe", "inherit"],
        env: environment(),
      },
    )
    const [line] = (await once(child.stdout!, "data")) as [Buffer]
    return { child, url: /http:\/\/[\d.:]+/.exec(line.toString())![0] }
  }
  const post = async (url: string, path: string, body: Json, key = "none"): Promise<Json> => {
    const answer = await fetch(`${url}/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key === "none" ? {} : { "idempotency-key": key }) },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as Json
  }
  const items = async (url: string, id: unknown): Promise<number> => {
    const answer = await fetch(`${url}/v1/conversations/${String(id)}/items?limit=100`)
    return ((await answer.json()) as { data: ReadonlyArray<unknown> }).data.length
  }

  const first = await serve()
  const { id } = await post(first.url, "conversations", {})
  const asked = (input: string) => ({ model: "gpt-5", conversation: id, input })
  const { id: one } = await post(first.url, "responses", asked("one"), "k1")
  let answered = (): void => undefined
  gate = new Promise((resolve) => (answered = resolve))
  const lost = post(first.url, "responses", asked("two"), "k2").then(
    () => "answered",
    () => "lost",
  )
  await expect.poll(() => upstream.received.length).toBe(2)
  const killed = once(first.child, "close")
  first.child.kill("SIGKILL")
  await killed
  expect(await lost).toBe("lost")
  answered()

  const second = await serve()
  expect(await items(second.url, id)).toBe(2)
  expect((await post(second.url, "responses", asked("one"), "k1"))["id"]).toBe(one)
  const { id: two } = await post(second.url, "responses", asked("two"), "k2")
  expect((await post(second.url, "responses", asked("two"), "k2"))["id"]).toBe(two)
  expect(await items(second.url, id)).toBe(4)
  expect(upstream.received).toHaveLength(3)
  const ended = once(second.child, "close")
  second.child.kill("SIGTERM")
  await ended
  await upstream.close()
})
