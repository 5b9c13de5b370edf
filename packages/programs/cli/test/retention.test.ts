/** `memfold archive` and `memfold restore`: rules decide what leaves the store, and nothing leaves without `--run`. */
import { Memory, Message } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, TestContext } from "effect"
import { copyFileSync, cpSync, readdirSync, utimesSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { inFolder, lines } from "@memfold/harness/program"

const { folder, memfold, file } = inFolder("retention")
const store = "sqlite:chats.db"

const sessionsIn = async () => {
  const { out } = await memfold("sessions", "--store", store, "--json")
  return lines(out)
    .map(({ session }) => session)
    .toSorted()
}

const archived = (name: string) => {
  try {
    return readdirSync(join(folder, name), { recursive: true }).filter((one) => String(one).endsWith(".gz"))
  } catch {
    return []
  }
}

const everything = ["ann/1", "ann/2", "bob/1", "legal/1"]

/** Writes what was said long ago into a file: the clock of a test begins in 1970. */
const longAgo = (file: string, write: (memory: Memory.Service) => Effect.Effect<unknown, Error>) =>
  Effect.flatMap(Memory.make({ strategy: SlidingWindow(), compaction: { mode: "off" } }), write).pipe(
    Effect.scoped,
    Effect.provide(SqliteEventLog.layer({ filename: join(folder, file) })),
    Effect.provide(ExtractiveSummarizer.layer()),
    Effect.provide(TestContext.TestContext),
    Effect.runPromise,
  )

beforeAll(() =>
  longAgo("chats.db", (memory) =>
    Effect.forEach(everything, (session) =>
      memory.append(session, Message.user(`my name is ${session}`), { owner: session.split("/")[0]! }),
    ),
  ),
)

const saying = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, at) => `It is number ${at} of this talk.`)

const talk = (count: number): string =>
  saying(count)
    .map((content, at) => JSON.stringify({ role: at % 2 === 0 ? "user" : "assistant", content }))
    .join("\n")

describe("memfold archive", () => {
  it("says what it would do, and changes nothing without --run", async () => {
    const rules = ["--store", store, "--idle", "90 days", "--hold", "legal", "--to", "./cold"]
    const { code, out, err } = await memfold("archive", ...rules, "--json")
    expect([code, err]).toEqual([0, ""])
    expect(lines(out).map(({ session, action, outcome }) => [session, action, outcome])).toEqual(
      ["ann/1", "ann/2", "bob/1"].map((session) => [session, "archive", "planned"]),
    )
    const shown = await memfold("archive", ...rules)
    expect(shown.out).toContain("3 planned")
    expect(shown.out).toContain("nothing was changed; --run does it")
    expect(await sessionsIn()).toEqual(everything)
    expect(archived("cold")).toEqual([])
  })

  it("with --run moves the sessions of the rules, and keeps what is held; memfold restore brings one back", async () => {
    const before = await memfold("export", "--store", store, "--session", "ann/1")
    const run = await memfold(
      "archive",
      "--store",
      store,
      "--idle",
      "90 days",
      "--owner",
      "ann",
      "--to",
      "./cold",
      "--run",
    )
    expect(run).toMatchObject({ code: 0, err: "" })
    expect(run.out).toContain("2 moved")
    // A mark says where an archived session is.
    expect(await sessionsIn()).toEqual([
      "bob/1",
      "legal/1",
      "memfold:archived:ann/1",
      "memfold:archived:ann/2",
      "memfold:audit:session:ann/1",
      "memfold:audit:session:ann/2",
    ])
    expect(archived("cold")).toHaveLength(2)

    const back = await memfold("restore", "ann/1", "--store", store, "--from", "./cold")
    expect(back).toMatchObject({ code: 0, err: "", out: 'session "ann/1" is back in the store\n' })
    expect(await memfold("export", "--store", store, "--session", "ann/1")).toEqual(before)
    expect((await memfold("restore", "ann/1", "--store", store, "--from", "./cold")).out).toContain(
      "in the store already",
    )
    expect((await memfold("restore", "none", "--store", store, "--from", "./cold")).code).toBe(2)
  })

  it("leaves what each command reads of a session as it was, where --archive names the archive", async () => {
    const reads: ReadonlyArray<ReadonlyArray<string>> = [
      ["export", "--session", "ann/2"],
      ["export", "--owner", "ann"],
      ["events", "ann/2", "--json"],
      ["context", "ann/2", "--json"],
      ["recall", "my name", "--session", "ann/2", "--json"],
      ["recall", "my name", "--owner", "ann", "--json"],
      ["summaries", "ann/2", "--json"],
      ["trace", "ann/2", "--message", "0", "--json"],
      ["facts", "ann/2", "--json"],
      ["facts", "--owner", "ann", "--json"],
      ["audit", "ann/2", "--json"],
      ["compact", "ann/2", "--dry-run", "--json"],
    ]
    for (const [at, call] of reads.entries()) {
      // Reading brings it back, so each command has a copy.
      const copy = `read-${at}`
      for (const name of ["chats.db", "cold"])
        cpSync(join(folder, name), join(folder, copy, name), { recursive: true })
      const [place, from] = [`sqlite:${copy}/chats.db`, `./${copy}/cold`]
      const read = await memfold(...call, "--store", place, "--archive", from)
      expect({ call, code: read.code, err: read.err }).toEqual({ call, code: 0, err: "" })
      expect((await memfold("restore", "ann/2", "--store", place, "--from", from)).code).toBe(0)
      expect({ call, ...(await memfold(...call, "--store", place)) }).toEqual({ call, ...read })
    }
  })

  it("takes rules from a file: the first that applies decides; a deleted session leaves the archive, too", async () => {
    const rules = file("rules.json", {
      rules: [
        { do: "hold", owner: "legal" },
        { do: "delete", owner: "ann", idle: "90 days" },
        { do: "archive", age: "90 days" },
      ],
    })
    const { code, out } = await memfold(
      "archive",
      "--store",
      store,
      "--rules",
      rules,
      "--to",
      "./cold",
      "--run",
      "--json",
    )
    expect(code).toBe(0)
    expect(Object.fromEntries(lines(out).map(({ session, outcome }) => [session, outcome]))).toEqual({
      "ann/1": "deleted",
      "ann/2": "deleted",
      "bob/1": "moved",
    })
    expect(await sessionsIn()).toEqual([
      "legal/1",
      "memfold:archived:bob/1",
      "memfold:audit:owner:ann",
      "memfold:audit:session:ann/1",
      "memfold:audit:session:ann/2",
      "memfold:audit:session:bob/1",
    ])
    expect(archived("cold")).toHaveLength(1)
  })

  it("is in the audit of what it has archived and deleted, by whom and which rule, and in doctor", async () => {
    const actor = { id: userInfo().username, via: "memfold" }
    const told = async (...about: ReadonlyArray<string>) =>
      lines((await memfold("audit", ...about, "--store", store, "--json")).out)
        .filter(({ type }) => type === "entry")
        .map(({ act, session, reason, actor }) => ({ act, session, reason, actor }))
    const moved = { act: "archive", actor, reason: "rule: archive, idle 90 days, owner ann" }
    const deleted = { act: "delete", actor, reason: "rule: delete, idle 90 days, owner ann" }
    expect(await told("ann/1")).toEqual([
      { ...moved, session: "ann/1" },
      { act: "restore", session: "ann/1", actor },
      { ...deleted, session: "ann/1" },
    ])
    expect(await told("ann/2")).toEqual([
      { ...moved, session: "ann/2" },
      { ...deleted, session: "ann/2" },
    ])
    expect(
      (await told("--owner", "ann")).toSorted((one, other) =>
        `${one.session}` < `${other.session}` ? -1 : 1,
      ),
    ).toEqual([
      { ...deleted, session: "ann/1" },
      { ...deleted, session: "ann/2" },
    ])
    expect(await told("bob/1")).toContainEqual({
      act: "archive",
      session: "bob/1",
      actor,
      reason: "rule: archive, age 90 days",
    })
    const old = file("old-backup.db", "")
    utimesSync(old, 1, 1)
    const { out } = await memfold("doctor", "--store", store, "--backup", old, "--json")
    expect(lines(out).map(({ about }) => about)).toContain("backup")
  })

  it("with --segments moves the old events of a session that lives on, and memfold restore brings them back", async () => {
    const place = "sqlite:long.db"
    const replayed = await memfold(
      "replay",
      file("long.jsonl", talk(600)),
      "--store",
      place,
      "--session",
      "long",
    )
    expect(replayed).toMatchObject({ code: 0 })
    const whole = await memfold("export", "--store", place, "--session", "long")
    const said = await memfold("context", "long", "--store", place)
    expect(await memfold("feed", "--store", place, "--group", "crm")).toMatchObject({ code: 0, err: "" })
    const everything = await memfold("export", "--store", place)
    const from = ["--store", place]
    const reads: ReadonlyArray<ReadonlyArray<string>> = [
      ["sessions", ...from, "--json"],
      ["export", ...from],
      ["export", ...from, "--session", "long"],
      ["events", "long", ...from, "--json"],
      ["context", "long", ...from, "--at", "150", "--json"],
      ["recall", "number 3 of this talk", ...from, "--session", "long", "--json"],
      ["summaries", "long", ...from, "--json"],
      ["trace", "long", ...from, "--message", "3", "--json"],
      ["facts", "long", ...from, "--json"],
      ["audit", "long", ...from, "--json"],
      ["feed", ...from, "--json"],
    ]
    // The move has its entry in the trail of the session, which exports have beside it, and count.
    const ofTrail =
      /^(.*"memfold:audit:session:long".*|.*"act":"archive".*|{"type":"audit".*|{"memfold":"end".*)\n/gm
    const reading = async (...call: ReadonlyArray<string>) => {
      const { out, ...read } = await memfold(...call)
      return { ...read, out: out.replaceAll(ofTrail, "") }
    }
    const before = []
    for (const call of reads) {
      const read = await reading(...call)
      expect({ call, code: read.code, err: read.err }).toEqual({ call, code: 0, err: "" })
      before.push(read)
    }
    const segments = ["archive", "--store", place, "--segments", "--keep-versions", "100", "--to", "./parts"]

    expect((await memfold(...segments)).out).toContain("1 planned")
    expect(archived("parts")).toEqual([])
    expect(await memfold(...segments, "--run")).toMatchObject({ code: 0, err: "" })
    expect(archived("parts")).toHaveLength(1)

    expect(await memfold("context", "long", "--store", place)).toEqual(said)
    const refused: Array<string> = []
    for (const [at, call] of reads.entries()) {
      const { code, out, err } = await reading(...call)
      if (code === 0) expect(out).toBe(before[at]!.out)
      else {
        refused.push(call[0]!)
        expect([code, err]).toEqual([2, expect.stringMatching(/are in an archive; .*--archive/)])
      }
      if (call[0] === "sessions") continue
      expect({ call, ...(await reading(...call, "--archive", "./parts")) }).toEqual({ call, ...before[at]! })
    }
    const needOldEvents = ["export", "export", "events", "context", "feed"]
    expect(refused).toEqual(expect.arrayContaining(needOldEvents))
    // What the program notes about the store itself is no session of it, and goes into no copy.
    expect(everything.out).not.toContain("memfold:")
    const copied = ["copy", "--from", place, "--to", "sqlite:copied.db"]
    expect((await memfold(...copied)).code).toBe(1)
    expect((await memfold(...copied, "--archive", "./parts")).code).toBe(0)
    expect((await reading("export", "--store", "sqlite:copied.db")).out).toBe(before[1]!.out)
    expect((await memfold("verify", "--store", place)).code).toBe(1)
    expect((await memfold("verify", "--store", place, "--archive", "./parts")).code).toBe(0)

    const back = await memfold("restore", "long", "--store", place, "--from", "./parts")
    expect(back).toMatchObject({ code: 0, out: 'session "long" is back in the store\n' })
    expect(await memfold("export", "--store", place, "--session", "long")).toEqual(whole)
    expect(archived("parts")).toEqual([])
  })

  it("leaves commands that write as they were: with the archive, they do what they do on a store that has everything", async () => {
    await longAgo("plain.db", (memory) =>
      memory.append(
        "old",
        saying(200).map((text, at) => (at % 2 === 0 ? Message.user(text) : Message.assistant(text))),
      ),
    )
    const long = file("written.jsonl", talk(600))
    await memfold("replay", long, "--store", "sqlite:plain.db", "--session", "long")
    copyFileSync(join(folder, "plain.db"), join(folder, "moved.db"))
    const [plain, moved] = [
      ["--store", "sqlite:plain.db"],
      ["--store", "sqlite:moved.db", "--archive", "./written"],
    ] as const
    const move = (...how: ReadonlyArray<string>) =>
      memfold("archive", "--store", "sqlite:moved.db", "--to", "./written", "--run", ...how)
    expect((await move("--idle", "90 days")).out).toContain("1 moved")
    expect((await move("--segments", "--keep-versions", "100")).out).toContain("1 moved")
    for (const call of [
      ["compact", "old"],
      ["export", "--session", "old", "--reason", "asked for"],
    ]) {
      const { code, err } = await memfold(...call, "--store", "sqlite:moved.db")
      expect({ call, code, err }).toEqual({
        call,
        code: 2,
        err: expect.stringContaining("memfold:archived:old"),
      })
    }
    const writes: ReadonlyArray<ReadonlyArray<string>> = [
      ["compact", "old", "--json"],
      ["compact", "long", "--json"],
      ["compact", "long", "--json"],
      ["export", "--session", "long", "--session", "old", "--reason", "asked for"],
      ["repair", "--json"],
      ["repair", "--json", "--session", "old"],
      ["context", "old", "--json"],
      ["context", "long", "--json"],
    ]
    // Ids and times of what is written now, and checksums over them.
    const alike = (said: string) =>
      said
        .replaceAll(/\b(?:01[0-9a-z]{18}|[0-9a-f]{64})\b/g, "id")
        .replaceAll(/\b\d{13}\b|(?<="checksum":)\d+/g, "0")
    for (const call of writes) {
      const [here, there] = [await memfold(...call, ...plain), await memfold(...call, ...moved)]
      expect({ call, code: here.code, err: here.err }).toEqual({ call, code: 0, err: "" })
      expect({ call, ...there, out: alike(there.out) }).toEqual({ call, ...here, out: alike(here.out) })
    }
    expect(await memfold("verify", ...moved)).toMatchObject({ code: 0 })
  })

  it("refuses what it cannot do, and says what to give", async () => {
    const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [[], "give --idle or --age"],
      [["--owner", "ann"], "--owner goes with --idle or --age"],
      [["--delete"], "--delete goes with --idle or --age"],
      [["--rules", "rules.json", "--delete"], "or --rules FILE"],
      [["--segments", "--delete"], "--segments goes with --keep-versions and --owner alone"],
      [["--segments", "--hold", "ann"], "--segments goes with --keep-versions and --owner alone"],
      [["--idle", "1 day", "--keep-versions", "5"], "--keep-versions goes with --segments"],
      [["--idle", "1 day"], "--to is needed"],
      [["--idle", "a while", "--delete"], '--idle a while is no duration, such as "90 days"'],
      [["--age", "-1", "--delete"], '--age -1 is no duration, such as "90 days"'],
      [["--idle", "1 day", "--delete", "--every", "1 day"], "goes with --run"],
    ]
    for (const [args, problem] of wrong) {
      const { code, err } = await memfold("archive", "--store", store, ...args)
      expect([code, err]).toEqual([2, expect.stringContaining(problem)])
    }
    expect(
      (await memfold("archive", "--store", "sqlite:none.db", "--idle", "1 day", "--delete", "--run")).code,
    ).toBe(2)
  })
})
