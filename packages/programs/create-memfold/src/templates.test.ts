/** Each template is made as `npm create memfold` makes it, and runs offline as `npm start` runs it. */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { launchOptions } from "@memfold/harness/chromium"
import { eventually } from "@memfold/harness/eventually"
import { postgresServers } from "@memfold/harness/postgresServers"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { create, CreateError, templates } from "./index.js"

const here = fileURLToPath(new URL("..", import.meta.url))
const program = (name: string) => join(here, "node_modules/.bin", name)
const tsc = createRequire(import.meta.url)
  .resolve("typescript/package.json")
  .replace("package.json", "bin/tsc")

const { server: postgres } = postgresServers()

let workspace = ""
beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), "memfold-create-"))
  // What `npm install` brings is in this package: its dependencies are those of all templates.
  symlinkSync(join(here, "node_modules"), join(workspace, "node_modules"))
})
afterAll(() => rmSync(workspace, { recursive: true, force: true }))

/** The environment of a newcomer: no key, and no database. */
const env = {
  ...process.env,
  OPENAI_API_KEY: undefined,
  DATABASE_URL: undefined,
  NODE_OPTIONS: undefined,
  PORT: "0",
}

const names = templates.map(({ name }) => name)

/** Makes a template, each time in a folder of its own. */
const made = (template: string) => create(template, join(workspace, template, crypto.randomUUID()))

/** Runs a program to its end, with lines on its standard input; resolves with what it printed. */
const run = async (folder: string, file: string, input = "") => {
  const child = execFile(program("tsx"), [file], { cwd: folder, env })
  let printed = ""
  child.stdout?.on("data", (text: string) => (printed += text))
  child.stderr?.on("data", (text: string) => (printed += text))
  child.stdin?.end(input)
  const [code] = (await once(child, "close")) as [number]
  expect({ code, printed }).toMatchObject({ code: 0 })
  return printed
}

/** Starts a program as the head of a group of processes, so that `end` reaches what it starts: `npm` does not pass a signal on. */
const start = (folder: string, file: string, args: ReadonlyArray<string>, more: NodeJS.ProcessEnv = {}) =>
  spawn(file, args, {
    cwd: folder,
    env: { ...env, ...more },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  })

/** Ends a program with all processes that it started. */
const end = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const closed = once(child, "close")
  process.kill(-child.pid, "SIGTERM")
  await closed
}

/** Starts a server, and waits for its address. */
const started = async (folder: string, file: string, more: NodeJS.ProcessEnv = {}) => {
  const child = start(folder, program("tsx"), [file], more)
  let errors = ""
  child.stderr.on("data", (text: string) => (errors += text))
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/[\d.:]+/u.exec(line) ?? []
    if (url !== undefined) return { url, child, errors: () => errors }
  }
  await end(child)
  throw new Error(`${file} ended before it printed an address, and said: ${errors}`)
}

/** Runs a server until `use` has used its address. */
const serve = async (
  folder: string,
  file: string,
  use: (url: string) => Promise<void>,
  more: NodeJS.ProcessEnv = {},
) => {
  const { url, child, errors } = await started(folder, file, more)
  try {
    return await use(url)
  } catch (cause) {
    throw new Error(`${file} printed: ${errors()}`, { cause })
  } finally {
    await end(child)
  }
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  })

describe("a new folder", () => {
  it.each(names)("of %s names its packages in this version", (name) => {
    const folder = made(name)
    expect(existsSync(join(folder, ".gitignore"))).toBe(true)
    expect(existsSync(join(folder, "_gitignore"))).toBe(false)
    const manifest = readFileSync(join(folder, "package.json"), "utf8")
    const { version } = JSON.parse(readFileSync(join(here, "package.json"), "utf8")) as { version: string }
    expect(manifest).toContain(`"memfold": "^${version}"`)
    expect(manifest).not.toContain("workspace:")
  })

  /** Templates by their settings of TypeScript: the compiler reads the packages once for all that share them. */
  const bySettings = new Map<string, Array<string>>()
  for (const name of names) {
    const settings = readFileSync(join(here, "templates", name, "tsconfig.json"), "utf8")
    bySettings.set(settings, [...(bySettings.get(settings) ?? []), name])
  }
  it.each([...bySettings.values()].map((names) => ({ names })))("of $names compiles", async ({ names }) => {
    const folders = names.map(made)
    const [folder = ""] = folders
    const settings = JSON.parse(readFileSync(join(folder, "tsconfig.json"), "utf8")) as { include: string[] }
    const include = folders.flatMap((one) => settings.include.map((files) => join(one, files)))
    const project = join(workspace, `${crypto.randomUUID()}.json`)
    writeFileSync(project, JSON.stringify({ extends: join(folder, "tsconfig.json"), include }))
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", project]).catch(
      (error: { stdout: string }) => error,
    )
    expect(stdout).toBe("")
  })
})

describe("offline", () => {
  it("terminal-chat remembers what another run was told", async () => {
    const folder = made("terminal-chat")
    await run(folder, "chat.ts", "My order is KX-4471.\n\n")
    const printed = await run(folder, "chat.ts", "What was my order?\n\n")
    expect(printed).toContain('session "me" has 2 messages')
    expect(printed).toMatch(/: My order is KX-4471\./u)
  })

  it("coding-agent does its task with tools", async () => {
    const folder = made("coding-agent")
    expect(await run(folder, "agent.ts")).toContain("I added product.js with a test, and the tests pass.")
    expect(readFileSync(join(folder, "project/product.js"), "utf8")).toContain("product")
    // It knows what it did in another run, and does not do it again.
    const again = await run(folder, "agent.ts")
    expect(again).toContain("You asked me before: “Add a function that multiplies two numbers, with a test.”")
    expect(again).not.toContain("- write")
  })

  it("own-policy shows what the policy does", async () => {
    expect(await run(made("own-policy"), "try.ts")).toMatch(
      /became a summary of \d+ tokens\n.*the model gets/u,
    )
  })

  it.each(["terminal-chat", "coding-agent", "serverless", "web-chat"])(
    "%s passes the tests that it brings along",
    async (name) => {
      const folder = made(name)
      const args = ["--import", "tsx", "--test", "test.ts"]
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
      expect(stdout).toMatch(/^# fail 0$/mu)
    },
  )

  it("serverless answers each request with the session's context", async () => {
    await serve(made("serverless"), "local.ts", async (url) => {
      await (await post(`${url}/chat-1`, { text: "Hello" })).json()
      expect(await (await post(`${url}/chat-1`, { text: "And again" })).json()).toMatchObject({ messages: 3 })
      for (const body of ["{}", "null", "no JSON"])
        expect((await fetch(`${url}/chat-1`, { method: "POST", body })).status).toBe(400)
      expect((await fetch(url)).status).toBe(404)
    })
  })
})

describe("web-chat", () => {
  // Each page of the browser has cookies of its own, so each is another user of one server.
  let server: Awaited<ReturnType<typeof started>>
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch(launchOptions())
    server = await started(made("web-chat"), "server.ts")
  })
  afterAll(async () => {
    await browser?.close()
    if (server !== undefined) await end(server.child)
  })

  it("answers, lists the chat, and shows it to its browser alone", async () => {
    const { url } = server
    expect(await (await fetch(url)).text()).toContain('<div id="page">')
    const cookie = (await fetch(`${url}/api/chats`)).headers.get("set-cookie")?.split(";")[0] ?? ""
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi there" }] }
    const asked = { messages: [message], trigger: "submit-message" }
    expect(await (await post(`${url}/api/chats/c1/answer`, asked, { cookie })).text()).toContain("[DONE]")
    const read = async (path: string, headers = {}) =>
      (await (await fetch(`${url}/api${path}`, { headers })).json()) as unknown
    expect(await read("/chats", { cookie })).toEqual([{ id: "c1", title: "Hi there" }])
    expect(await read("/chats/c1", { cookie })).toMatchObject({ messages: [{}, {}], branches: [{}] })
    expect(await read("/chats/c1")).toMatchObject({ messages: [] })
  })

  /** Opens the page for a new user, and what this one does on it. */
  const opened = async (use: (page: Page, url: string) => Promise<void>) => {
    const page = await browser.newPage({ viewport: { width: 1_200, height: 800 } })
    onTestFinished(() => page.close())
    page.setDefaultTimeout(120_000)
    const problems: Array<string> = []
    page.on("pageerror", ({ message }) => problems.push(message))
    await page.goto(server.url)
    await use(page, server.url)
    expect(problems).toEqual([])
  }
  /** How long a page may take on a busy machine. */
  const patience = { timeout: 120_000 }
  const said = (page: Page, role: string) => page.locator(`article.${role} .text`)
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true })
  const shown = async (page: Page) => [
    await said(page, "user").allTextContents(),
    await said(page, "assistant").allTextContents(),
  ]
  const say = async (page: Page, text: string) => {
    await page.getByLabel("Message", { exact: true }).fill(text)
    await page.keyboard.press("Enter")
    await button(page, "Stop").waitFor()
    await button(page, "Send").waitFor()
  }

  it("answers, edits in place, answers anew, goes back to the first words, and is there after a reload", async () => {
    await opened(async (page, url) => {
      for (const text of ["My order is KX-4471.", "Where is it?"]) await say(page, text)
      const first = await shown(page)
      expect(first[0]).toEqual(["My order is KX-4471.", "Where is it?"])
      await button(page, "Edit").first().click()
      await page.getByLabel("New text of the message").fill("My order is AB-1.")
      await button(page, "Replace").click()
      await page.getByText("2 / 2").waitFor()
      await button(page, "Another answer").click()
      await expect.poll(() => page.getByText("2 / 2").count(), patience).toBe(2)
      expect(await said(page, "user").allTextContents()).toEqual(["My order is AB-1."])
      await button(page, "Earlier version").first().click()
      await expect.poll(() => shown(page), patience).toEqual(first)
      await page.getByText("1 / 2").waitFor()
      expect(page.url()).toMatch(new RegExp(`^${url}/chat/[\\w-]+$`, "u"))
      await page.reload()
      await expect.poll(() => shown(page), patience).toEqual(first)
      await button(page, "Memory").click()
      await page.getByText("4 of 4 messages word for word").waitFor()
    })
  })

  it("stops an answer, and the memory keeps what the page shows", async () => {
    await opened(async (page) => {
      await page.getByLabel("Message", { exact: true }).fill(`Tell me all of it: ${"word ".repeat(200)}`)
      await button(page, "Send").click()
      await expect.poll(() => said(page, "assistant").allTextContents(), patience).toHaveLength(1)
      await button(page, "Stop").click()
      await button(page, "Send").waitFor()
      const [half] = await said(page, "assistant").allTextContents()
      const afterReload = async () => {
        await page.reload()
        await said(page, "user").waitFor()
        return said(page, "assistant").allTextContents()
      }
      await expect.poll(afterReload, patience).toEqual([half])
      expect(half).not.toMatch(/\)$/u)
    })
  })

  it("opens a long chat at its end, also on a narrow screen", async () => {
    await opened(async (page) => {
      await page.setViewportSize({ width: 390, height: 450 })
      for (let turn = 0; turn < 3; turn++)
        await say(page, `Turn ${turn}. ${"This is a long story. ".repeat(8)}`)
      await page.reload()
      const last = said(page, "assistant").last()
      await expect.poll(async () => (await last.boundingBox())?.y ?? 450, patience).toBeLessThan(350)
      const writing = await page.getByLabel("Message", { exact: true }).boundingBox()
      const { y = 0, height = 0 } = (await last.boundingBox()) ?? {}
      expect(y + height).toBeLessThan(writing?.y ?? 0)
    })
  })
})

describe("serverless on PostgreSQL", () => {
  it("only appends; its worker compacts, also what came while there was none", async () => {
    const { url: database } = await postgres()
    const folder = made("serverless")
    const withDatabase = { DATABASE_URL: database }
    await serve(
      folder,
      "local.ts",
      async (url) => {
        const text = "The parcel for order KX-4471 has not come yet. ".repeat(120)
        for (let turn = 0; turn < 20; turn++) {
          const answer = await post(`${url}/chat-1`, { text: `${turn}: ${text}` })
          expect({ turn, status: answer.status }).toEqual({ turn, status: 200 })
        }
        const { messages } = (await (await post(`${url}/chat-1`, { text: "And now?" })).json()) as {
          readonly messages: number
        }
        expect(messages).toBe(41)
        const worker = start(folder, "npm", ["run", "worker"], withDatabase)
        for (const printed of [worker.stdout, worker.stderr]) printed.resume()
        onTestFinished(() => end(worker))
        // Each answer has its request and the answer before it in its context, until there is a summary instead.
        let last = messages
        await eventually(
          "the worker has compacted",
          async () => {
            const answer = await post(`${url}/chat-1`, { text: "Well?" })
            const { messages: now } = (await answer.json()) as { readonly messages: number }
            const isCompacted = now < last
            last = now
            return isCompacted
          },
          60,
        )
      },
      withDatabase,
    )
  })
})

describe("create", () => {
  it("refuses a folder with files, and a template that is none", () => {
    const folder = made("own-policy")
    expect(() => create("own-policy", folder)).toThrow(CreateError)
    expect(() => create("own-policy", folder)).toThrow("is not empty")
    expect(() => create("chat", join(workspace, "other"))).toThrow(
      'there is no template "chat"; there are: coding-agent, own-policy',
    )
    expect(existsSync(join(workspace, "other"))).toBe(false)
  })

  it("refuses a place that cannot be written, and leaves nothing there", () => {
    const file = join(workspace, "file")
    writeFileSync(file, "")
    for (const place of [file, join(file, "app"), join(workspace, "a".repeat(300))]) {
      expect(() => create("own-policy", place)).toThrow(CreateError)
      expect(() => create("own-policy", place)).toThrow(place)
    }
    expect(readFileSync(file, "utf8")).toBe("")
    // The folder can be made, and its files have paths that are too long.
    const deep = `${"a".repeat(200)}/`.repeat(30)
    const folder = join(workspace, deep).slice(0, 4_085)
    expect(() => create("own-policy", folder)).toThrow("could not be written: ENAMETOOLONG")
    expect(existsSync(join(workspace, "a".repeat(200)))).toBe(false)
  })

  it("says how to get there, as a shell takes it", async () => {
    const cwd = mkdtempSync(join(workspace, "there-"))
    const args = [join(here, "src/main.ts"), "-t", "own-policy", "--", "-My App"]
    const { stdout } = await promisify(execFile)(program("tsx"), args, { cwd, env })
    expect(stdout).toContain('own-policy is in -My App. Now:\n\n  cd "./-My App"\n')
  })
})
