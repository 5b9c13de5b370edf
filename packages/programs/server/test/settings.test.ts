/** The settings of the service: shown, changed, stored. */
import { createClient, ServiceError } from "@memfold/client"
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { makeToken } from "../src/index.js"
import { ask, started, turn } from "./services.js"

const settingsFile = (content: object): string => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-settings-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, "agent-tools.json")
  writeFileSync(path, JSON.stringify(content))
  return path
}

describe("the settings of a service", () => {
  it("are shown with the form of every strategy: limits, defaults, and what each is for", async () => {
    const memory = createClient({ url: (await started({ strategy: "rounds" })).url })
    const { strategy, settings, stored, section, strategies } = await memory.settings()
    expect({ strategy, settings, stored, section }).toEqual({
      strategy: "rounds",
      settings: {},
      stored: false,
      section: ["agent", "contextWindow"],
    })
    const rounds = strategies.find(({ name }) => name === "rounds")
    expect(rounds?.defaults).toEqual({
      fullContextTurns: 4,
      cachedContextTurns: 3,
      sessionMemoryTokens: null,
    })
    expect(rounds?.schema).toMatchObject({
      type: "object",
      properties: { fullContextTurns: { type: "integer", exclusiveMinimum: 0, default: 4 } },
    })
    for (const { name, schema, defaults } of strategies) {
      const properties = schema["properties"] as Record<string, { description: string; default: unknown }>
      expect([name, Object.keys(properties).toSorted()]).toEqual([name, Object.keys(defaults).toSorted()])
      for (const [key, one] of Object.entries(properties)) {
        expect([name, key, one.description.length > 10]).toEqual([name, key, true])
        expect(one.default).toEqual(defaults[key])
      }
    }
  })

  it("are those of the section of agent-tools.json; a change counts at once, is stored there, and leaves the rest alone", async () => {
    const path = settingsFile({
      theme: "dark",
      agent: { model: "m", contextWindow: { fullContextTurns: 9, other: 1 } },
    })
    const options = { strategy: "rounds", settingsFile: path }
    const memory = createClient({ url: (await started(options)).url })
    expect((await memory.settings()).settings).toEqual({ fullContextTurns: 9 })
    for (const n of [1, 2, 3, 4]) await memory.append("s", turn(n))
    expect((await memory.preview("s", { which: "due" })).compactions).toHaveLength(0)

    const changed = await memory.changeSettings({ settings: { fullContextTurns: 1, cachedContextTurns: 1 } })
    expect(changed).toMatchObject({ settings: { fullContextTurns: 1, cachedContextTurns: 1 }, stored: true })
    expect((await memory.preview("s", { which: "due" })).compactions).toHaveLength(3)
    expect(await memory.compact("s", { which: "due" })).toHaveLength(3)
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      theme: "dark",
      agent: { model: "m", contextWindow: { other: 1, fullContextTurns: 1, cachedContextTurns: 1 } },
    })
    const again = createClient({ url: (await started(options)).url })
    expect((await again.settings()).settings).toEqual({ fullContextTurns: 1, cachedContextTurns: 1 })
    // What one request says comes before.
    const { compactions } = await memory.preview("s", { which: "all", fullContextTurns: 3 })
    expect(compactions).toHaveLength(1)
  })

  it("are stored in the file as it is by then: what others wrote, a link to it, and who may read it stay", async () => {
    const file = settingsFile({ theme: "dark" })
    const path = `${file}.link`
    symlinkSync(file, path)
    chmodSync(file, 0o640)
    const memory = createClient({ url: (await started({ strategy: "rounds", settingsFile: path })).url })
    const written = { theme: "light", agent: { model: "n" } }
    writeFileSync(file, `\uFEFF${JSON.stringify(written)}`)
    await memory.changeSettings({ settings: { fullContextTurns: 2 } })
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      theme: "light",
      agent: { model: "n", contextWindow: { fullContextTurns: 2 } },
    })
    expect([lstatSync(path).isSymbolicLink(), statSync(file).mode & 0o777]).toEqual([true, 0o640])

    // Another program is in the middle of writing it.
    writeFileSync(file, '{"theme":')
    await expect(memory.changeSettings({ settings: { fullContextTurns: 3 } })).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining("correct it"),
    })
    expect([readFileSync(file, "utf8"), (await memory.settings()).settings]).toEqual([
      '{"theme":',
      { fullContextTurns: 2 },
    ])
    rmSync(file)
    await memory.changeSettings({ settings: { fullContextTurns: 4 } })
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ theme: "light" })
    expect(readdirSync(dirname(path))).toEqual(["agent-tools.json.link"])
  })

  it("are not changed by what is not allowed, nor by a tenant", async () => {
    const path = settingsFile({ agent: { contextWindow: { fullContextTurns: 9 } } })
    const before = readFileSync(path, "utf8")
    const { url } = await started({ strategy: "rounds", settingsFile: path })
    const memory = createClient({ url })
    for (const [change, named] of [
      [{ settings: { fullContextTurns: 0 } }, "fullContextTurns"],
      [{ settings: { keepForever: 1 } }, "keepForever"],
      [{ strategy: "none", settings: {} }, "none"],
    ] as const) {
      const refused = await memory.changeSettings(change).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(ServiceError)
      expect([(refused as ServiceError).status, (refused as ServiceError).message]).toEqual([
        400,
        expect.stringContaining(named),
      ])
    }
    expect(readFileSync(path, "utf8")).toBe(before)
    expect((await memory.settings()).settings).toEqual({ fullContextTurns: 9 })

    const { token, stored } = makeToken({ tenant: "acme", rights: ["read", "write"] })
    const shared = await started({ tokens: [stored] })
    const headers = { authorization: `Bearer ${token}` }
    const put = { method: "PUT", headers, body: { settings: {} } }
    expect(await ask(`${shared.url}/v1/settings`, put)).toMatchObject({ status: 403 })
    expect(await ask(`${shared.url}/v1/settings`, { headers })).toMatchObject({ status: 200 })
    expect(await ask(`${shared.url}/v1/settings`)).toMatchObject({ status: 401 })
  })
})
