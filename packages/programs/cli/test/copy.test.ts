import { createMemory } from "memfold"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { inFolder, lines, sample } from "@memfold/harness/program"

const { folder, memfold, file } = inFolder("copy")

describe("memfold copy, export and import", () => {
  it("move sessions between stores and files, and what was moved is clean", async () => {
    await memfold("replay", sample("coding-agent.jsonl"), "--strategy", "rounds", "--store", "sqlite:a.db")
    await memfold("replay", sample("support-zh.jsonl"), "--strategy", "rounds", "--store", "sqlite:a.db")

    const copied = await memfold("copy", "--from", "sqlite:a.db", "--to", "sqlite:b.db", "--json")
    expect(copied).toMatchObject({ code: 0, err: "" })
    const sums = lines(copied.out).at(-1)
    expect(sums).toMatchObject({ type: "copy", sessions: 2, diverged: 0, written: sums?.["events"] })

    const again = await memfold("copy", "--from", "sqlite:a.db", "--to", "sqlite:b.db")
    expect(again.out).toContain("2 sessions")
    expect(again.out).toContain(", 0 of them new; every record compared")

    expect(await memfold("export", "all.jsonl", "--store", "sqlite:b.db")).toMatchObject({ code: 0, out: "" })
    expect(await memfold("export", "all.jsonl", "--store", "sqlite:b.db")).toMatchObject({
      code: 2,
      err: "memfold: all.jsonl exists already\n",
    })
    expect(await memfold("import", "all.jsonl", "--store", "sqlite:c.db")).toMatchObject({ code: 0, err: "" })
    expect((await memfold("verify", "--store", "sqlite:c.db")).out).toContain("clean")
    const [a, c] = await Promise.all(
      ["a", "c"].map((name) => memfold("export", "--store", `sqlite:${name}.db`)),
    )
    expect(c).toEqual(a)
  })

  it("leave another session of the same name alone: exit 1", async () => {
    await memfold("replay", sample("coding-agent.jsonl"), "--strategy", "rounds", "--store", "sqlite:x.db")
    await memfold(
      "replay",
      sample("coding-agent.jsonl"),
      "--strategy",
      "sliding-window",
      "--store",
      "sqlite:y.db",
    )
    const before = await memfold("export", "--store", "sqlite:y.db")
    const copied = await memfold("copy", "--from", "sqlite:x.db", "--to", "sqlite:y.db", "--json")
    expect(copied.code).toBe(1)
    expect(lines(copied.out)[0]).toMatchObject({ type: "diverged" })
    expect(await memfold("export", "--store", "sqlite:y.db")).toEqual(before)
  })

  it("take a session that is named twice once", async () => {
    const sessions = await memfold("sessions", "--store", "sqlite:a.db", "--json")
    const name = String(lines(sessions.out)[0]?.["session"])
    const twice = ["--session", name, "--session", name]
    const exported = await memfold("export", "--store", "sqlite:a.db", ...twice)
    expect(lines(exported.out).at(-1)).toMatchObject({ memfold: "end", sessions: 1 })
    const copied = await memfold("copy", "--from", "sqlite:a.db", "--to", "sqlite:t.db", "--json", ...twice)
    expect(lines(copied.out)).toMatchObject([{ type: "copied" }, { type: "copy", sessions: 1 }])
  })

  it("export everything of an owner, with the facts about the user of that name", async () => {
    await using memory = createMemory({
      store: `sqlite:${join(folder, "owners.db")}`,
      layers: { userOf: (session) => session.split("/")[0] },
      compaction: { mode: "inline" },
    })
    for (const session of ["ann/1", "bob/1", "ann/2"]) {
      const messages = [
        { role: "user", content: "I like tea." },
        { role: "assistant", content: "Green or black?" },
      ] as const
      await memory.append(session, [...messages], { owner: session.slice(0, 3) })
    }
    const { code, out } = await memfold("export", "--store", "sqlite:owners.db", "--owner", "ann")
    const sessions = new Set(lines(out).flatMap(({ session }) => session ?? []))
    expect([code, sessions]).toEqual([0, new Set(["ann/1", "ann/2", "memfold:user:ann"])])
    expect(
      await memfold("export", "--store", "sqlite:owners.db", "--owner", "ann", "--session", "x"),
    ).toEqual({
      code: 2,
      out: "",
      err: "memfold: give --session or --owner, not both\n",
    })
  })

  it("say that an import into no store was only tried", async () => {
    const tried = await memfold("import", "all.jsonl")
    expect(tried).toMatchObject({ code: 0, err: "" })
    expect(tried.out).toContain("Only checked, nothing written; use --store URL to write it.")
    expect(tried.out).not.toContain("copied")
    expect(lines((await memfold("import", "all.jsonl", "--json")).out).at(-1)).toMatchObject({ kept: false })
    const kept = await memfold("import", "all.jsonl", "--store", "sqlite:c.db", "--json")
    expect(lines(kept.out).at(-1)).toMatchObject({ type: "copy", kept: true })
  })

  it("a file says what it is made of, and is backed up", async () => {
    const size = await memfold("store", "size", "--store", "sqlite:a.db", "--json")
    expect(lines(size.out)[0]).toMatchObject({ type: "size", sessions: 2 })
    expect((await memfold("store", "size", "--store", "sqlite:a.db")).out).toContain("bytes for each message")
    expect(await memfold("store", "vacuum", "--store", "sqlite:a.db")).toMatchObject({ code: 0, err: "" })
    expect(await memfold("store", "backup", "--store", "sqlite:a.db", "--to", "kept.db")).toMatchObject({
      code: 0,
      err: "",
    })
    const [was, kept] = await Promise.all(
      ["a", "kept"].map((name) => memfold("export", "--store", `sqlite:${name}.db`)),
    )
    expect(kept).toEqual(was)
    const dropped = await memfold("store", "drop-index", "--store", "sqlite:a.db")
    expect(dropped).toEqual({
      code: 0,
      err: "",
      out: "dropped the full-text index of 0 sessions; vacuum gives the space back\n",
    })
    const wrong = await memfold("store", "size", "--store", "memory:")
    expect(wrong).toEqual({
      code: 2,
      out: "",
      err: "memfold: this command needs a file: --store sqlite:PATH\n",
    })
  })

  it("say in one line what is wrong with a call", async () => {
    const wrong = file("wrong.jsonl", "{}\n")
    for (const [call, said] of [
      [["copy", "--from", "sqlite:nowhere.db", "--to", "sqlite:z.db"], "nowhere.db"],
      [["copy", "--from", "sqlite:a.db", "--to", "sqlite:a.db"], "the same store"],
      [["copy", "--from", "sqlite:a.db", "--to", "sqlite:./a.db"], "the same store"],
      [["copy", "--from", "memory:", "--to", "sqlite:z.db"], "--from memory:"],
      [["copy", "--from", "sqlite:a.db", "--to", "memory:"], "--to memory:"],
      [["copy", "--from", "sqlite:a.db", "--to", "sqlite:z.db", "--session", "none"], 'no session "none"'],
      [["import", wrong, "--store", "sqlite:z.db"], ":1: it is not an export of memfold"],
      [["import", "all.jsonl", "--store", "sqlite:z.db", "--session", "none"], 'no session "none"'],
      [["import", "all.jsonl", "--store", "sqlite:z.db", "--thread", "1"], "--thread"],
      [["import", "all.jsonl", "--pick", "0"], "--pick does not apply to"],
      [["import", "all.jsonl", "--skip-damaged"], "--skip-damaged does not apply to"],
      [["import", "all.jsonl", "--format", "openai"], "--format does not apply to"],
      [["import", "all.jsonl", "--summarizer", "echo"], "--summarizer does not apply to"],
    ] as const) {
      const { code, err } = await memfold(...call)
      expect({ call, code }).toEqual({ call, code: 2 })
      expect(err.trim().split("\n")).toHaveLength(1)
      expect(err).toContain(said)
    }
  })
})
