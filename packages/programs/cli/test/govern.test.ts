/** `memfold audit`, `memfold erase`, `memfold hold` and `memfold doctor`, over a sealed file. */
import { inFolder, lines, sample } from "@memfold/harness/program"
import { withDriver } from "@memfold/harness/sqlite"
import { createMemory } from "memfold"
import { mkdirSync, utimesSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"

const { folder, memfold, file } = inFolder("govern")
const store = "sealed:keys,sqlite:store/chats.db"
const canary = "KANARIENVOGEL-4711"
const user = { id: userInfo().username, via: "memfold" }

beforeAll(async () => {
  mkdirSync(join(folder, "store"))
  await using memory = createMemory({
    store: `sealed:${join(folder, "keys")},sqlite:${join(folder, "store/chats.db")}`,
    compaction: { mode: "off" },
  })
  const web = memory.as({ id: "ann", via: "web" })
  for (const session of ["first", "second"])
    await web.append(session, { role: "user", content: `Is ${canary} there?` }, { owner: "ann" })
  expect(() => memory.as({ id: "" })).toThrow(/actor/)
})

describe("memfold audit", () => {
  it("says who did what, without a word of it", async () => {
    const { code, out } = await memfold("audit", "first", "--store", store)
    expect(code).toBe(0)
    expect(out).toContain("ann via web")
    expect(out).not.toContain(canary)
    expect(await memfold("audit", "--store", store)).toMatchObject({ code: 2 })
    const [entry] = lines((await memfold("audit", "--owner", "ann", "--store", store, "--json")).out)
    expect(entry).toMatchObject({
      type: "entry",
      act: "append",
      kind: "user",
      actor: { id: "ann", via: "web" },
    })
  })
})

describe("--trust separate", () => {
  it("keeps what tools said in a summary of its own", async () => {
    const chats = ["--store", "sqlite:chats.db"] as const
    const coding = sample("coding-agent.jsonl")
    await memfold("import", "--from", "transcript", coding, ...chats, "--session", "coding")
    const settings = ["--strategy", "rolling-buffer", "--set", "bufferSize=4"] as const
    const compacted = await memfold(
      "compact",
      "coding",
      ...chats,
      ...settings,
      "--trust",
      "separate",
      "--json",
    )
    expect(compacted).toMatchObject({ code: 0, out: expect.stringContaining("Committed") })
    const { out } = await memfold("context", "coding", ...chats, "--json")
    expect(out).toContain('"origin":"assistant"')
    expect(out).toContain('"origin":"tool"')
    expect(await memfold("compact", "coding", ...chats, "--trust", "none")).toMatchObject({
      code: 2,
      err: expect.stringContaining("separate"),
    })
  })
})

it("memfold export with a reason is in the audit", async () => {
  const exported = await memfold("export", "--owner", "ann", "--reason", "asked for", "--store", store)
  expect(exported).toMatchObject({ code: 0, out: expect.stringContaining(canary) })
  const entries = lines((await memfold("audit", "--owner", "ann", "--store", store, "--json")).out)
  expect(entries.find((one) => one["act"] === "export")).toMatchObject({ reason: "asked for", actor: user })
})

describe("memfold erase and hold", () => {
  it("erase an owner unless there is a hold, and take it back", async () => {
    const erase = (...more: ReadonlyArray<string>) =>
      memfold("erase", "--owner", "ann", "--store", store, ...more)
    expect(await erase()).toMatchObject({ code: 2, err: expect.stringContaining("--reason") })
    expect(await memfold("hold", "--owner", "ann", "--reason", "case 17", "--store", store)).toMatchObject({
      code: 0,
      out: 'owner "ann": held (case 17)\n',
    })
    expect(await erase("--reason", "asked for")).toMatchObject({
      code: 2,
      err: 'memfold: owner "ann" is held: case 17. End the hold first\n',
    })
    expect((await memfold("hold", "--owner", "ann", "--end", "--store", store)).code).toBe(0)
    const [receipt] = lines((await erase("--reason", "asked for", "--json")).out)
    expect(receipt).toMatchObject({
      type: "receipt",
      owner: "ann",
      actor: user.id,
      sessions: expect.arrayContaining([expect.objectContaining({ session: "first" })]),
    })
    expect(await memfold("context", "first", "--store", store)).toMatchObject({
      code: 2,
      err: expect.stringContaining("erased"),
    })
    expect(await memfold("verify", "--store", store)).toMatchObject({
      code: 0,
      out: expect.stringContaining("2 erased: clean"),
    })
    const { out } = await memfold("audit", "--owner", "ann", "--store", store, "--json")
    const entries = lines(out)
    expect(entries.filter((one) => ["hold", "release", "erase"].includes(String(one["act"])))).toMatchObject([
      { act: "hold", actor: user, reason: "case 17" },
      { act: "release", actor: user },
      { act: "erase", actor: user, reason: "asked for" },
    ])
    expect((await erase("--take-back", "--json")).code).toBe(0)
    expect((await memfold("context", "first", "--store", store)).out).toContain(canary)
  })

  it("say what they need of a store that seals nothing", async () => {
    await using memory = createMemory({ store: `sqlite:${join(folder, "plain.db")}` })
    await memory.append("first", { role: "user", content: "Hello" }, { owner: "ann" })
    const refused = await memfold("erase", "--owner", "ann", "--reason", "x", "--store", "sqlite:plain.db")
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("@memfold/sealed") })
  })
})

describe("memfold doctor", () => {
  it("names what is open, and nothing else", async () => {
    const about = async (...more: ReadonlyArray<string>) =>
      lines((await memfold("doctor", "--json", ...more)).out).map((one) => one["about"])
    expect(await about("--store", "sqlite:plain.db", "--host", "0.0.0.0")).toEqual([
      "keys",
      "tokens",
      "host",
      "retention",
      "audit",
    ])
    const token = { tenant: "acme", rights: ["read", "write"], name: "bot", sha256: "0".repeat(64) }
    file("tokens.json", JSON.stringify({ tokens: [token] }))
    file("rules.json", JSON.stringify({ rules: [{ do: "delete", idle: "730 days" }] }))
    const closed = ["--store", store, "--tokens", "tokens.json", "--rules", "rules.json"]
    expect(await memfold("doctor", ...closed)).toMatchObject({ code: 0 })
    file("tokens.json", JSON.stringify({ tokens: [{ ...token, rights: ["erase"], name: undefined }] }))
    expect(await about(...closed)).toEqual(["tokens", "tokens"])
    expect((await memfold("doctor", ...closed)).code).toBe(1)
  })

  it("names each thing that is changed in an installation that is closed", async () => {
    mkdirSync(join(folder, "closed"))
    await using memory = createMemory({
      store: `sealed:${join(folder, "keys")},sqlite:${join(folder, "closed/chats.db")}`,
      audit: {},
    })
    await memory.append("first", { role: "user", content: "Hello" }, { owner: "cid" })
    await memory.delete("first")
    const token = { tenant: "acme", rights: ["read", "write"], name: "bot", sha256: "0".repeat(64) }
    const written = (name: string, content: unknown) => {
      file(name, JSON.stringify(content))
      return name
    }
    const closed = {
      "--store": "sealed:keys,sqlite:closed/chats.db",
      "--tokens": written("closed-tokens.json", { tokens: [token] }),
      "--rules": written("closed-rules.json", { rules: [{ do: "delete", idle: "730 days" }] }),
      "--host": "127.0.0.1",
      "--backup": written("new.db", ""),
    }
    const found = async (changed: Partial<Record<keyof typeof closed, string | null>>) => {
      const args = Object.entries({ ...closed, ...changed }).flatMap(([name, value]) =>
        value === null ? [] : [name, value],
      )
      const { code, out, err } = await memfold("doctor", "--json", ...args)
      return { code, about: lines(out).map((one) => one["about"]), err }
    }
    expect(await found({})).toEqual({ code: 0, about: [], err: "" })
    const old = written("old.db", "")
    utimesSync(join(folder, old), 1, 1)
    const tokens = (changed: object) => written("changed.json", { tokens: [{ ...token, ...changed }] })
    for (const [changed, about] of [
      [{ "--store": "sqlite:closed/chats.db" }, "keys"],
      [{ "--store": `sealed:${join(folder, "closed/keys")},sqlite:closed/chats.db` }, "keys"],
      [{ "--store": "sealed:.,sqlite:closed/chats.db" }, "keys"],
      [{ "--tokens": null }, "tokens"],
      [{ "--tokens": () => tokens({ name: undefined }) }, "tokens"],
      [{ "--tokens": () => tokens({ rights: [] }) }, "tokens"],
      [{ "--tokens": () => tokens({ rights: ["read", "erase"] }) }, "tokens"],
      [{ "--host": "0.0.0.0" }, "host"],
      [{ "--host": "::" }, "host"],
      [{ "--host": "10.0.0.7" }, "host"],
      [{ "--rules": null }, "retention"],
      [{ "--rules": () => written("changed.json", { rules: [] }) }, "retention"],
      [{ "--rules": () => written("changed.json", { rules: [{ do: "hold", owner: "ann" }] }) }, "retention"],
      [{ "--backup": old }, "backup"],
    ] as ReadonlyArray<readonly [Readonly<Record<string, string | null | (() => string)>>, string]>) {
      const given = Object.fromEntries(
        Object.entries(changed).map(([name, value]) => [name, typeof value === "function" ? value() : value]),
      )
      expect([changed, await found(given)]).toEqual([changed, { code: 1, about: [about], err: "" }])
    }
    // A file that the service would not take says nothing of what is protected.
    for (const [option, wrong] of [
      ["--tokens", {}],
      ["--rules", {}],
      ["--rules", { rules: [{ do: "delete", idle: "2 years" }] }],
    ] as const)
      expect(await found({ [option]: written("changed.json", wrong) })).toMatchObject({ code: 2, about: [] })
  })

  it("finds a trail that was altered", async () => {
    withDriver(join(folder, "store/chats.db"), (driver) =>
      driver.exec(
        "UPDATE events SET data = replace(data, 'case 17', 'case 18'), checksum = NULL WHERE data LIKE '%case 17%'",
      ),
    )
    const { code, out } = await memfold("audit", "--owner", "ann", "--store", store)
    expect(code).toBe(1)
    expect(out).toContain("was changed at its entry")
    const found = lines((await memfold("doctor", "--store", store, "--json")).out)
    expect(found).toContainEqual(expect.objectContaining({ about: "audit" }))
  })
})
