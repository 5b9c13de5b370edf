/** A store in a file, as the users of the command line meet it. */
import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { createMemory } from "memfold"
import { inFolder, lines, program, sample } from "@memfold/harness/program"
import { withDatabase, tamper } from "./databases.js"

const { folder, memfold, file } = inFolder("store")

const chat = (messages: number, extra: (index: number) => object = () => ({})) =>
  Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `message ${index} says a little something`,
    ...extra(index),
  }))

describe("a store", () => {
  it("keeps what was replayed, shows it, and verifies clean", async () => {
    const store = `sqlite:${join(folder, "kept.db")}`
    const where = ["--store", store, "--session", "work"]
    const replayed = await memfold("replay", sample("coding-agent.jsonl"), ...where, "--json")
    const then = lines(replayed.out).find(({ type }) => type === "context")
    const look = async (...args: ReadonlyArray<string>) =>
      lines((await memfold(...args, "--store", store, "--json")).out)
    expect(await look("sessions")).toMatchObject([{ session: "work" }])
    expect(await look("context", "work")).toEqual([then])
    const events = await look("events", "work")
    expect(events.map(({ version }) => version)).toEqual(events.map((_, index) => index + 1))
    expect(events.filter(({ type }) => type === "MessageAppended")).toHaveLength(196)
    const [early] = await look("context", "work", "--at", "10")
    expect(early?.["layout"]).toMatchObject([
      { section: "pinned", from: 0, to: 1 },
      { section: "uncovered", from: 1, to: 6 },
      { section: "open", from: 6, to: 10, tokens: 0 },
    ])
    const anthropic = await memfold("context", "work", "--store", store, "--format", "anthropic")
    expect(Object.keys(JSON.parse(anthropic.out) as object)).toEqual(["system", "messages"])
    expect(await memfold("verify", "--store", store)).toMatchObject({ code: 0, err: "" })
    expect(await look("verify")).toMatchObject([{ type: "verified", findings: 0 }])
  })

  it("verify says how far an index of words is behind", async () => {
    const store = `sqlite:${join(folder, "behind.db")}`
    const options = { store, format: "openai", compaction: { mode: "off" } } as const
    const memory = await createMemory({ ...options, recall: { fullTextIndex: "searches" } })
    const messages = Array.from(
      { length: 1_500 },
      (_, at) => ({ role: "user", content: `Rate ${at}` }) as const,
    )
    for (let at = 0; at < messages.length; at += 500)
      await memory.append("long", messages.slice(at, at + 500))
    const verified = async () => lines((await memfold("verify", "--store", store, "--json")).out)
    expect(await verified()).toEqual([
      { type: "verified", sessions: 1, events: 1_500, findings: 0, unindexed: 1_500 },
    ])
    expect((await memfold("verify", "--store", store)).out).toMatch(
      /clean\nThe index of words is 1,500 events behind, in 1 session: a search brings it up/,
    )
    await memory.recall("long", "rate 17")
    expect(await verified()).toEqual([{ type: "verified", sessions: 1, events: 1_500, findings: 0 }])
    await memory.close()
  })

  it("with memory layers: the context has their facts, or says which ones it leaves out", async () => {
    const path = join(folder, "layers.db")
    const store = `sqlite:${path}`
    const memory = await createMemory({
      store,
      format: "openai",
      layers: {
        userOf: (session) => (session === "own" ? undefined : "ada"),
        scopeOf: (session) => (session === "own" ? undefined : "garden"),
      },
    })
    const expected = new Map<string, unknown>()
    for (const session of ["own", "shared", "other"]) {
      await memory.append(session, [
        { role: "user", content: "I live in Graz. How do I prune the apple trees in winter?" },
        { role: "assistant", content: "Cut on a dry day.\n\n- [ ] sharpen the garden shears" },
      ])
      await memory.compact(session, { which: "due" })
      await memory.append(session, [{ role: "user", content: "Which garden shears for trees in Graz?" }])
    }
    for (const session of ["own", "shared"]) expected.set(session, (await memory.context(session)).messages)
    await memory.close()
    const shown = async (...args: ReadonlyArray<string>) => {
      const { code, out, err } = await memfold("context", ...args, "--store", store, "--json")
      expect(code).toBe(0)
      return { err, messages: lines(out)[0]?.["messages"] }
    }
    const text = JSON.stringify(expected.get("shared"))
    expect(text).toContain("Lives in: Graz")
    expect(await shown("own")).toEqual({ err: "", messages: expected.get("own") })
    const known = ["--user", "ada", "--scope", "garden"]
    expect(await shown("shared", ...known)).toEqual({ err: "", messages: expected.get("shared") })
    const without = await shown("shared")
    expect(JSON.stringify(without.messages)).not.toContain("Lives in")
    expect(without.err).toContain("--user ID")
    expect(without.err).toContain("--scope ID")
    const wrong = await shown("shared", "--user", "bob", "--scope", "garden")
    expect(wrong.err).toBe("memfold: the store has no facts about the user bob\n")
  })

  it("that was tampered with fails to verify: exit 1 with each finding", async () => {
    const path = join(folder, "tampered.db")
    await memfold("replay", file("t.json", JSON.stringify(chat(60))), "--store", `sqlite:${path}`)
    tamper(path, "DELETE FROM events WHERE version = 20; UPDATE events SET data = '{' WHERE version = 30")
    const { code, out, err } = await memfold("verify", "--store", `sqlite:${path}`, "--json")
    expect({ code, err }).toEqual({ code: 1, err: "" })
    expect(lines(out)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: "finding", rule: "contiguous", version: 21 }),
        expect.objectContaining({ type: "finding", rule: "decodable", version: 30 }),
      ]),
    )
  })

  it("that has a damaged summary says so beside the context", async () => {
    const path = join(folder, "summary.db")
    const store = ["--store", `sqlite:${path}`]
    await memfold("replay", file("s.json", JSON.stringify(chat(60))), ...store, "--session", "s")
    expect((await memfold("context", "s", ...store)).err).toBe("")
    const committed = lines((await memfold("events", "s", ...store, "--json")).out).findLast(
      ({ type }) => type === "SummaryCommitted",
    )
    tamper(
      path,
      `UPDATE events SET data = '{' WHERE version = ${Number(committed?.["version"])}; DELETE FROM projections`,
    )
    const { code, out, err } = await memfold("context", "s", ...store)
    expect(code).toBe(0)
    expect(err).toContain(`memfold: the summary of event ${Number(committed?.["version"])} is damaged`)
    expect(out).not.toContain("is damaged")
  })

  it("with a session that cannot be read: it is a finding, and the others are gone through", async () => {
    const path = join(folder, "page.db")
    const at = (session: string) => ["--store", `sqlite:${path}`, "--session", session]
    const long = file("page.json", [{ role: "user", content: "z".repeat(20_000) }])
    await memfold("replay", file("page-short.json", chat(3)), ...at("a"))
    await memfold("replay", long, ...at("broken"))
    await memfold("replay", file("page-short.json", chat(3)), ...at("c"))
    const bytes = readFileSync(path)
    // A page of nothing but the long message goes on at the page that its first four bytes name.
    const pages = Array.from({ length: bytes.length / 4_096 }, (_, page) => page * 4_096)
    const next = pages.find((page) => bytes.subarray(page + 4, page + 4_096).every((byte) => byte === 0x7a))
    bytes.fill(0xff, next ?? bytes.length, (next ?? bytes.length) + 4)
    writeFileSync(path, bytes)

    const finding = {
      session: "broken",
      version: null,
      rule: "readable",
      detail: expect.stringMatching(/damaged/),
    }
    const verified = await memfold("verify", "--store", `sqlite:${path}`, "--json")
    expect(verified).toMatchObject({ code: 1, err: "" })
    const found = lines(verified.out) as ReadonlyArray<{ readonly rule?: string; readonly detail?: string }>
    const ofFile = found.filter(({ rule }) => rule === "integrity")
    expect(ofFile[0]?.detail).toMatch(/invalid page number/)
    expect(found).toEqual([
      { type: "finding", ...finding },
      ...ofFile,
      { type: "verified", sessions: 3, events: 7, findings: 1 + ofFile.length },
    ])
    const repaired = await memfold("repair", "--store", `sqlite:${path}`, "--json")
    expect(repaired).toMatchObject({ code: 1, err: "" })
    expect(lines(repaired.out)).toEqual([
      { type: "repaired", session: "a", mended: [], left: [] },
      { type: "repaired", session: "broken", mended: [], left: [finding] },
      { type: "repaired", session: "c", mended: [], left: [] },
      { type: "repair", sessions: 3, mended: 0, left: 1 },
    ])
    for (const command of ["verify", "repair"]) {
      const { code, out, err } = await memfold(command, "--store", `sqlite:${path}`)
      expect({ code, err }).toEqual({ code: 1, err: "" })
      expect(out).toMatch(/^(readable|left) +session "broken": the log cannot be read: .*damaged/)
    }
  })

  it("whose files are damaged beside its records is a finding", async () => {
    const path = join(folder, "index.db")
    await memfold("replay", file("index.json", chat(3)), "--store", `sqlite:${path}`)
    expect((await memfold("verify", "--store", `sqlite:${path}`)).code).toBe(0)
    // The last bytes of an index's page are an entry of it.
    const end =
      "SELECT rootpage * page_size AS end FROM sqlite_schema, pragma_page_size WHERE name = 'events_by_batch'"
    const place = withDatabase(path, (database) => database.prepare(end).get()) as { readonly end: number }
    const bytes = readFileSync(path)
    bytes[place.end - 1]! ^= 1
    writeFileSync(path, bytes)
    const { code, out } = await memfold("verify", "--store", `sqlite:${path}`, "--json")
    expect(code).toBe(1)
    expect(lines(out)[0]).toMatchObject({
      type: "finding",
      rule: "integrity",
      session: null,
    })
    expect((await memfold("verify", "--store", `sqlite:${path}`)).out).toContain("integrity  the store: ")
  })

  it("is searched by session and by owner, and a wrong index is found and dropped", async () => {
    const path = join(folder, "searched.db")
    const store = `sqlite:${path}`
    const memory = createMemory({ store })
    const talk = Array.from({ length: 40 }, (_, at) => ({
      role: "user" as const,
      content: `Small talk ${at}`,
    }))
    await memory.append("trip", [...talk, { role: "user", content: "The hotel in Graz is called Sonne." }], {
      owner: "ann",
      title: "Holidays",
    })
    await memory.append("shop", { role: "user", content: "Ship it to Graz." }, { owner: "ann" })
    await memory.append("other", { role: "user", content: "Graz is mine." }, { owner: "bob" })
    await memory.recall("trip", "graz")
    await memory.close()
    const where = ["--store", store]
    const owned = await memfold("recall", "Where in Graz?", ...where, "--owner", "ann")
    expect(owned).toMatchObject({ code: 0, err: "" })
    expect(owned.out).toContain("# Session trip: Holidays\n")
    expect(owned.out).toContain("[40] user: The hotel in Graz is called Sonne.\n")
    expect(owned.out).toContain("[0] user: Ship it to Graz.\n")
    expect(owned.out).not.toContain("mine")
    const one = lines((await memfold("recall", "graz", ...where, "--session", "shop", "--json")).out)
    expect(one).toMatchObject([
      { type: "recalled", session: "shop", index: 0, role: "user", text: "Ship it to Graz." },
      { type: "recall", messages: 1, unreadable: [] },
    ])
    expect((await memfold("recall", "giraffe", ...where, "--owner", "ann")).out).toBe("nothing was found\n")
    const until = (time: string) => memfold("recall", "graz", ...where, "--owner", "ann", "--before", time)
    expect((await until("2001-01-01")).out).toBe("nothing was found\n")
    expect((await until("3001-01-01T00:00+02:00")).out).toBe(owned.out)
    expect(await until("soon")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--before soon: it must be a date"),
    })
    for (const wrong of [[], ["--owner", "ann", "--session", "shop"], ["--owner", "ann", "--tokens", "-1"]])
      expect(await memfold("recall", "graz", ...where, ...wrong)).toMatchObject({ code: 2, out: "" })

    tamper(path, "UPDATE projections SET data = 'AAAA' WHERE kind = 'index' AND key LIKE '%.%'")
    const verified = await memfold("verify", ...where)
    expect(verified.code).toBe(1)
    expect(verified.out).toMatch(/^index {2}session "trip", event 42: .*memfold repair drops the index/)
    expect(await memfold("recall", "Where in Graz?", ...where, "--owner", "ann")).toEqual(owned)
    expect((await memfold("repair", ...where)).out).toContain("dropped the full-text index")
    expect((await memfold("verify", ...where)).code).toBe(0)
  })

  it("whose sessions cannot be listed is an error, not a finding", async () => {
    const path = join(folder, "list.db")
    await memfold("replay", file("list.json", chat(3)), "--store", `sqlite:${path}`)
    tamper(path, "ALTER TABLE sessions RENAME COLUMN name TO called")
    for (const command of ["verify", "repair"]) {
      const { code, out, err } = await memfold(command, "--store", `sqlite:${path}`)
      expect({ code, out }).toEqual({ code: 2, out: "" })
      expect(err).toMatch(/^memfold: [^\n]+\n$/)
    }
  })

  it("says how much is free, if any is, in a unit that shows it", async () => {
    const path = join(folder, "free.db")
    await memfold("replay", file("free.json", chat(3)), "--store", `sqlite:${path}`)
    const size = async () => (await memfold("store", "size", "--store", `sqlite:${path}`)).out.split("\n")[0]
    expect(await size()).not.toContain("free")
    tamper(path, "CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(20000)); DROP TABLE t")
    expect(await size()).toMatch(/; [1-9]\d\.\d KiB are free, and vacuum gives them back$/)
  })

  it("has every acknowledged message after kill -9, and verifies clean (L14)", async () => {
    const store = `sqlite:${join(folder, "killed.db")}`
    const long = file("long.json", JSON.stringify(chat(3_000)))
    const replay = ["replay", long, "--store", store, "--session", "k", "--summarizer", "echo", "--json"]
    const child = spawn(process.execPath, [program, ...replay], { stdio: ["ignore", "pipe", "ignore"] })
    let seen = ""
    child.stdout.on("data", (data: Buffer) => {
      seen += data.toString()
      if (seen.split("\n").length > 4) child.kill("SIGKILL")
    })
    await new Promise((resolve) => child.once("close", resolve))
    const acknowledged = lines(seen.slice(0, seen.lastIndexOf("\n"))).at(-1)?.["after"] as number
    expect(await memfold("verify", "--store", store)).toMatchObject({ code: 0 })
    const events = lines((await memfold("events", "k", "--store", store, "--json")).out)
    const texts = events
      .filter(({ type }) => type === "MessageAppended")
      .map(({ data }) => (data as { text: string }).text)
    expect(texts.length).toBeGreaterThan(acknowledged)
    expect(texts.length).toBeLessThan(3_000)
    texts.forEach((text, index) => expect(text).toContain(`message ${index} says`))
  })
})
