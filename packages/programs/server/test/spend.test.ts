/** What was spent of the caps that hold for a session. */
import { storeFile } from "@memfold/harness/storeFile"
import { createClient } from "@memfold/client"
import { expect, it } from "vitest"
import { makeToken } from "../src/index.js"
import { started, turn } from "./services.js"

const summarizer = async ({ user }: { readonly user: string }) => `${user.length} characters about orders`
const prices = { summarizer: { input: 1, output: 2 } }

it("is shown before a cap is reached, and when it is; without caps nothing is counted", async () => {
  const spend = { session: { tokens: 1_000_000 }, owner: { dollars: 2 }, total: { tokens: 1 }, prices }
  const { url } = await started({ spend, summarizer, strategy: "rounds", compaction: { mode: "manual" } })
  const memory = createClient({ url })
  for (let n = 0; n < 8; n++) await memory.append("s", turn(n), { owner: "ann" })
  const nothing = { tokens: 0, dollars: 0, heldTokens: 0, heldDollars: 0, reached: null }
  const day = new Date().toISOString().slice(0, 10)
  expect(await memory.spend("s")).toEqual({
    day,
    caps: [
      { scope: "session", cap: { tokens: 1_000_000 }, ...nothing },
      { scope: "owner", cap: { dollars: 2 }, ...nothing },
      { scope: "total", cap: { tokens: 1 }, ...nothing },
    ],
  })
  // The call that crosses a cap is made, and the next one is not.
  expect(await memory.compact("s")).toMatchObject([{ outcome: "Committed" }])
  for (let n = 8; n < 16; n++) await memory.append("s", turn(n))
  expect(await memory.compact("s")).toMatchObject([{ outcome: "Idle", reason: "spend-reached" }])
  const [session, owner, total] = (await memory.spend("s")).caps
  expect(session!.tokens).toBeGreaterThan(100)
  expect(session).toMatchObject({ heldTokens: 0, reached: null })
  expect(owner!.dollars).toBeGreaterThan(0.0001)
  expect(owner).toMatchObject({ tokens: session!.tokens, reached: null })
  expect(total).toMatchObject({ tokens: session!.tokens, cap: { tokens: 1 }, reached: expect.any(Number) })
  await expect(memory.spend("unknown")).rejects.toMatchObject({ status: 404 })

  const other = createClient({ url: (await started()).url })
  await other.append("s", turn(1))
  expect((await other.spend("s")).caps).toEqual([])
})

it("is what another process counts as well; its cap is not known here until it is reached", async () => {
  const store = storeFile()
  const options = { store, summarizer, strategy: "rounds", compaction: { mode: "manual" } } as const
  const counting = createClient({
    url: (await started({ ...options, spend: { total: { tokens: 9_999_999 } } })).url,
  })
  for (let n = 0; n < 8; n++) await counting.append("s", turn(n))
  await counting.compact("s")
  const other = createClient({ url: (await started(options)).url })
  const { caps } = await other.spend("s")
  expect(caps).toMatchObject([{ scope: "total", cap: null, reached: null }])
  expect(caps[0]!.tokens).toBeGreaterThan(100)
})

it("is a tenant's own: what all spend together is not shown to one", async () => {
  const [acme, other] = ["acme", "other"].map((tenant) => makeToken({ tenant, rights: ["read", "write"] }))
  const spend = { session: { tokens: 1_000_000 }, owner: { tokens: 1_000_000 }, total: { tokens: 1_000_000 } }
  const tokens = [acme!.stored, other!.stored]
  const { url } = await started({
    spend,
    tokens,
    summarizer,
    strategy: "rounds",
    compaction: { mode: "manual" },
  })
  const [mine, theirs] = [acme, other].map((one) => createClient({ url, token: one!.token }))
  for (let n = 0; n < 8; n++) await mine!.append("s", turn(n), { owner: "ann" })
  await theirs!.append("s", turn(1), { owner: "ann" })
  await mine!.compact("s")
  const spent = async (memory: typeof mine) =>
    (await memory!.spend("s")).caps.map(({ scope, tokens }) => [scope, tokens > 0])
  expect(await spent(mine)).toEqual([
    ["session", true],
    ["owner", true],
  ])
  expect(await spent(theirs)).toEqual([
    ["session", false],
    ["owner", false],
  ])
})
