/** The page in a real browser, over real services. */
import { createClient } from "@memfold/client"
import { deep } from "@memfold/harness/depth"
import { storeFile } from "@memfold/harness/storeFile"
import { makeToken, serve, type ServeOptions, type Service } from "@memfold/server"
import axe from "axe-core"
import { Effect } from "effect"
import { createMemory } from "memfold"
import { readFileSync } from "node:fs"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { pageFiles } from "../src/index.js"
import { browser as launch, problemsOf, started, turn } from "./services.js"

let browser: Browser
beforeAll(async () => void (browser = await launch()))
afterAll(() => browser.close())

const sizes = { wide: { width: 1_440, height: 900 }, narrow: { width: 390, height: 844 } } as const

/** Pages that no test uses at the moment: to begin one takes the browser as long as what most tests do with it. */
const free: Array<Page> = []

/** Opens the page; what goes wrong on it fails the test. */
const opened = async (
  url: string,
  fragment = "",
  { size = "wide", dark = false }: { readonly size?: keyof typeof sizes; readonly dark?: boolean } = {},
): Promise<Page> => {
  const page = free.pop() ?? (await browser.newPage())
  await page.setViewportSize(sizes[size])
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" })
  const problems = problemsOf(page)
  onTestFinished(async () => {
    expect(problems).toEqual([])
    page.removeAllListeners()
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await page.evaluate(() => {
      localStorage.clear()
      sessionStorage.clear()
    })
    await page.goto("about:blank")
    free.push(page)
  })
  await page.goto(`${url}/studio/${fragment}`)
  return page
}

/** Nothing is compacted in the background meanwhile, so that a test knows what there is. */
const manual = { compaction: { mode: "manual" } } as const

/** A conversation that was compacted twice. */
const filled = async (url: string) => {
  const memory = createClient({ url })
  const strategy = { strategy: "rounds" } as const
  await memory.append("chat-1", { role: "system", content: "Be brief." }, { owner: "ann", title: "Orders" })
  for (let n = 0; n < 12; n++) {
    await memory.append("chat-1", turn(n), strategy)
    if (n === 6 || n === 9) await memory.compact("chat-1", strategy)
  }
  return { url, memory }
}
/** A service with it, for one test. */
const withSession = async (options: Parameters<typeof started>[0] = {}) =>
  filled((await started({ ...manual, ...options })).url)

/** A context without the ids of summaries: what is committed again has new ones. */
const shown = ({ messages, layout, tokens }: { messages: unknown; layout: unknown; tokens: number }) => ({
  messages: JSON.stringify(messages).replaceAll(/"summaryId":"[^"]*"/g, ""),
  layout,
  tokens,
})

const name = (text: string | RegExp) => ({ name: text, exact: typeof text === "string" })

/** Presses the button of an action: most are in a menu. */
const press = async (page: Page, action: string): Promise<void> => {
  const button = page.getByRole("button", name(action))
  const more = page.getByRole("button", name("More"))
  await more.or(button).first().waitFor()
  if (!(await button.isVisible())) await more.click()
  await button.click()
}

describe("the list of sessions", () => {
  it("shows, filters, searches words, follows what is new, and opens a session", async () => {
    const { url, memory } = await withSession()
    await memory.append("chat-2", { role: "user", content: "The zeppelin flies to Graz." }, { owner: "bob" })
    await memory.append("chat-3", { role: "user", content: "Nothing of that kind." })
    const page = await opened(url)
    const rows = page.locator("tbody tr")
    await expect.poll(() => rows.count()).toBe(3)
    const orders = rows.filter({ hasText: "Orders" })
    await expect.poll(() => orders.textContent()).toContain("25")
    await expect.poll(() => orders.locator("td").nth(3).textContent()).toMatch(/^[1-9]/)
    await page.getByRole("searchbox").fill("BOB")
    await expect.poll(() => rows.allTextContents()).toHaveLength(1)
    await page.getByRole("searchbox").fill("zeppelin")
    await page.keyboard.press("Enter")
    await expect.poll(() => rows.allTextContents()).toHaveLength(1)
    expect(await rows.textContent()).toContain("flies to Graz")
    await page.getByRole("searchbox").fill("")
    await memory.append("chat-4", { role: "user", content: "I am new." })
    await expect.poll(() => rows.count()).toBe(4)
    await page.getByRole("link", name("Orders")).click()
    await page.getByRole("heading", name("Orders")).waitFor()
    await page.goBack()
    await page.getByRole("heading", name("Sessions")).waitFor()
  })
})

describe("a search", () => {
  it("shows the words where they are, marks them, and leads to the message", async () => {
    const { url, memory } = await withSession()
    const long = `${"Nothing of that kind. ".repeat(30)}At noon the zeppelin flies to Graz.`
    await memory.append("chat-2", [...turn(1), { role: "user", content: long }, ...turn(2), ...turn(3)])
    for (const size of ["wide", "narrow"] as const) {
      const page = await opened(url, "", { size })
      await page.getByRole("searchbox").fill("zeppelin Graz")
      await page.keyboard.press("Enter")
      await expect.poll(() => page.locator("mark").allTextContents()).toEqual(["zeppelin", "Graz"])
      await page.getByRole("link", name("chat-2")).click()
      const sought = page.locator(".sought").filter({ visible: true })
      await sought.waitFor()
      expect(await sought.textContent()).toContain("#2")
      expect(await sought.textContent()).toContain("flies to Graz")
      const { y } = (await sought.boundingBox())!
      expect(y).toBeLessThan(sizes[size].height)
    }
  })
})

describe("a long list of sessions", () => {
  it("has the newest activity of the whole store first, and filters and searches all of it", async () => {
    const { url } = await started({ compaction: { mode: "off" } })
    const memory = createClient({ url })
    // The store has them in the order of their ids: the newest is the last of all.
    for (let n = 0; n < 120; n++)
      await memory.append(`s-${1_000 + n}`, { role: "user", content: `This is number ${n}.` })
    await memory.append("s-2000", { role: "user", content: "The zeppelin flies to Graz at noon." })
    await memory.append("s-3000", { role: "user", content: "A zeppelin is an airship." })
    const page = await opened(url)
    const rows = page.locator("tbody tr")
    await expect.poll(() => rows.count()).toBe(100)
    expect(await rows.first().textContent()).toContain("s-3000")
    await page.getByRole("searchbox").fill("s-1003")
    await expect.poll(() => rows.allTextContents()).toHaveLength(1)
    await page.getByRole("searchbox").fill("the zeppelin to Graz")
    await page.keyboard.press("Enter")
    // What has more of the words comes first, whatever is newer.
    await expect.poll(() => rows.locator("a").allTextContents()).toEqual(["s-2000", "s-3000"])
    await page.getByRole("searchbox").fill("")
    await page.getByRole("button", name("More sessions: 100 of 122 are shown")).click()
    await expect.poll(() => rows.count()).toBe(122)
  })
})

describe("a session through time", () => {
  it("shows what the model got at each version, by slider, keys and marks", async () => {
    const { url, memory } = await withSession()
    const page = await opened(url, "#session=chat-1")
    const got = page.getByRole("group", name("What the model got"))
    const where = page.locator(".where strong")
    const versions = (await memory.session("chat-1")).version
    await got.getByText("[Session Memory]").first().waitFor()
    expect(await where.textContent()).toBe(`Version ${versions} of ${versions}`)
    await page.keyboard.press("[")
    const commit = await page.getByRole("slider").inputValue()
    expect((await memory.summaries("chat-1")).map(({ version }) => String(version))).toContain(commit)
    expect(await page.getByRole("group", name("Compaction")).textContent()).toMatch(
      /Compressed.*messages \d+ to \d+.*→.*tokens/,
    )
    await page.getByRole("tab", name("Difference")).click()
    await page.locator("ins").first().waitFor()
    await page.getByRole("tab", name("Replaced")).click()
    await page.getByRole("group", name("What it replaced")).getByText("Question").first().waitFor()
    await page.getByRole("tab", name("Summary")).click()
    expect(await page.getByRole("group", name("Summary")).textContent()).toContain("KX-")
    await page.getByRole("tab", name("What the model got")).click()
    await page.getByRole("slider").fill("4")
    expect(page.url()).toContain("version=4")
    expect(await got.locator("article").count()).toBe(
      (await memory.context("chat-1", { atVersion: 4 })).messages.length,
    )
    await page.keyboard.press("ArrowRight")
    await expect.poll(() => where.textContent()).toContain("Version 5 ")
    await page.reload()
    await expect.poll(() => where.textContent()).toContain("Version 5 ")
  })

  it("follows new messages, and shows an edit as a branch to return to", async () => {
    const { url, memory } = await withSession()
    const page = await opened(url, "#session=chat-1")
    const said = page.getByRole("group", name("The conversation as it was said"))
    await said.getByText("Answer 11").waitFor()
    await memory.append("chat-1", { role: "user", content: "Are you there?" })
    await said.getByText("Are you there?").waitFor()
    await page.getByRole("button", name("What to do with message 25")).click()
    await page.getByRole("button", name("Edit from here…")).click()
    await page.getByLabel("Text").fill("Were you there?")
    await page.getByRole("button", name("Edit")).click()
    await said.getByText("Were you there?").waitFor()
    await page.getByText("2 branches").click()
    await page.getByRole("button", name("Return to it…")).click()
    await page.getByRole("dialog").getByRole("button", name("Return to it")).click()
    await said.getByText("Are you there?").waitFor()
    expect((await memory.session("chat-1")).branch).toBe(0)
  })

  it("is walked through by keyboard: versions, compactions, and the panes beside each other", async () => {
    const { url, memory } = await withSession()
    const commits = (await memory.summaries("chat-1")).map(({ version }) => version)
    const page = await opened(url, "#session=chat-1")
    const slider = page.getByRole("slider")
    await slider.focus()
    await page.keyboard.press("[")
    expect(await slider.inputValue()).toBe(String(commits.at(-1)))
    await page.keyboard.press("ArrowLeft")
    expect(await slider.inputValue()).toBe(String(commits.at(-1)! - 1))
    await page.keyboard.press("]")
    const tab = (text: string) => page.getByRole("tab", name(text))
    await tab("What the model got").focus()
    await page.keyboard.press("ArrowRight")
    await page.getByRole("group", name("Summary")).waitFor()
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("ArrowLeft")
    await page.getByRole("group", name("What it replaced")).waitFor()
    expect(await tab("Replaced").evaluate((element) => element === document.activeElement)).toBe(true)
    expect(await slider.inputValue()).toBe(String(commits.at(-1)))
  })

  it("keeps the curve free of many compactions, and reaches each by pointer and by keyboard", async () => {
    const { url } = await started({ compaction: { mode: "manual" } })
    const memory = createClient({ url })
    const strategy = { strategy: "rounds", fullContextTurns: 1, cachedContextTurns: 1 } as const
    for (let n = 0; n < 48; n++) {
      await memory.append("many", turn(n), strategy)
      await memory.compact("many", strategy)
    }
    const commits = (await memory.summaries("many")).map(({ version }) => version)
    expect(commits.length).toBeGreaterThan(40)
    const page = await opened(url, "#session=many", { size: "narrow" })
    const slider = page.getByRole("slider")
    await slider.waitFor()
    const ticks = page.locator(".ticks .mark")
    // So many lines would cover the curve; marks that would be too near to each other are one.
    expect(await page.locator(".ticks.through .mark").count()).toBe(0)
    expect(await ticks.count()).toBeLessThan(commits.length)
    const merged = page.locator(".ticks .merged").first()
    const [, first, last] = /versions (\d+) to (\d+)/.exec((await merged.getAttribute("title"))!)!
    const there = commits.filter((version) => version >= Number(first) && version <= Number(last))
    expect(there.length).toBeGreaterThan(1)
    const pointed: Array<string> = []
    for (let times = 0; times < there.length; times++) {
      await merged.click()
      pointed.push(await slider.inputValue())
    }
    expect(new Set(pointed)).toEqual(new Set(there.map(String)))
    await slider.fill("1")
    for (const version of commits) {
      await page.keyboard.press("]")
      expect(await slider.inputValue()).toBe(String(version))
    }
    await page.setViewportSize({ width: 1_800, height: 900 })
    await expect.poll(() => page.locator(".ticks.through .mark").count()).toBe(commits.length)
  })

  it("says how far a long log is read", async () => {
    const { url } = await started({ compaction: { mode: "off" } })
    const memory = createClient({ url })
    const messages = Array.from({ length: 600 }, (_, n) => turn(n)).flat()
    await memory.append("long", messages, { title: "A long one" })
    const { version } = await memory.session("long")
    const page = await opened(url)
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route(/fromVersion=1001/, async (route) => {
      await released
      await route.continue()
    })
    await page.getByRole("link", name("A long one")).click()
    await page.getByText(`Reading the log: 1,000 of ${version.toLocaleString("en-US")} versions`).waitFor()
    await page.getByRole("heading", name("A long one")).waitFor()
    const bar = page.getByRole("progressbar", name("Read of the log"))
    expect(await bar.evaluate((one) => (one as unknown as { position: number }).position)).toBeCloseTo(
      1_000 / version,
    )
    // Meanwhile there is what the model gets now.
    const now = page.getByRole("group", name("What the model gets now"))
    await now.getByText("Question 0").first().waitFor()
    expect((await now.boundingBox())!.height).toBeGreaterThan(300)
    release()
    await page.locator(".where").waitFor()
  })

  it("keeps few rows on the page, however long the conversation is", async () => {
    const { url } = await started({ compaction: { mode: "off" } })
    const memory = createClient({ url })
    const messages = Array.from({ length: 500 }, (_, n) => turn(n)).flat()
    await memory.append("long", messages)
    const page = await opened(url, "#session=long")
    await page.getByText("Answer 499").first().waitFor()
    await page.getByRole("slider").fill("500")
    await expect.poll(() => page.locator(".where strong").textContent()).toContain("Version 500 ")
    const cards = await page.locator("article").count()
    expect(cards).toBeGreaterThan(3)
    expect(cards).toBeLessThan(80)
  })

  it("leads from an answer to its prompt, and says one number of it: in the bar and beside the compaction", async () => {
    const { url, memory } = await withSession()
    const summaries = await memory.summaries("chat-1")
    for (const size of ["wide", "narrow"] as const) {
      const page = await opened(url, `#session=chat-1&version=${summaries.at(-1)!.version}`, { size })
      const bar = page.locator(".token-bar strong")
      await expect.poll(() => bar.textContent()).toMatch(/^[\d,]+ tokens$/)
      const line = await page.getByRole("group", name("Compaction")).textContent()
      expect(line).toContain(`→ ${await bar.textContent()}`)
      const said = page.getByRole("tab", name("As it was said"))
      if (await said.isVisible()) await said.click()
      const list = page.getByRole("group", name("The conversation as it was said"))
      const prompt = list.getByRole("button", name(/what the model got for message 16/))
      await prompt.click()
      const got = page.getByRole("group", name("What the model got"))
      await got.waitFor()
      await got.focus()
      await page.keyboard.press("End")
      await got.getByText("Question 7").first().waitFor()
      expect(await got.getByText("Answer 7").count()).toBe(0)
    }
  })

  it("folds long tool outputs until they are opened", async () => {
    const { url } = await started()
    const memory = createClient({ url })
    const call = { id: "c", type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } }
    await memory.append("s", [
      { role: "user", content: "Read it." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: `${"line ".repeat(200)}the end` },
    ])
    const page = await opened(url, "#session=s")
    const said = page.getByRole("group", name("The conversation as it was said"))
    await said.getByText(/1,007 characters/).waitFor()
    expect(await said.getByText("the end").count()).toBe(0)
    await said.getByText(/1,007 characters/).click()
    await said.getByText("the end").waitFor()
  })
})

describe("a trace", () => {
  it("shows what a sentence of a summary rests on, what nothing supports, and where a message lives on", async () => {
    const { url, memory } = await withSession()
    const page = await opened(url, "#session=chat-1&view=trace")
    const status = page.getByRole("status")
    await expect.poll(() => status.textContent()).toMatch(/\d+ sentences?, all supported/)
    await page.locator(".sentence").filter({ hasText: "KX-" }).first().click()
    await page
      .getByText(/^Message \d+ has \d+ % of it: .*KX-44/)
      .first()
      .waitFor()
    await page.getByLabel("A text of your own").fill("The zeppelin ZX-9000 flies to Graz.")
    await page.keyboard.press("Enter")
    await expect.poll(() => status.textContent()).toContain("1 supported by no message")
    await page.locator(".sentence").click()
    await page.getByText("No message has: ZX-9000").waitFor()
    await page.getByRole("button", name("Through time")).click()
    await page.getByRole("slider").fill("4")
    await page.getByRole("button", name("What to do with message 1")).click()
    await page.getByText("Lives on in 2 summaries").waitFor()
    const says = await page.getByRole("dialog").textContent()
    expect(says).toContain("KX-4470")
    const commits = (await memory.summaries("chat-1")).map(({ version }) => version)
    expect(says).toMatch(
      new RegExp(`version ${commits[1]} \\(in force\\).*version ${commits[0]} \\(superseded\\)`),
    )
  })
})

describe("charts", () => {
  it("say the numbers of the chosen call and of the call at the pointer, and lead to a version", async () => {
    const { url } = await withSession()
    const page = await opened(url, "#session=chat-1&view=tokens")
    const figure = page.locator("figure")
    const numbers = figure.locator(".u-value")
    await expect.poll(() => numbers.first().textContent()).toBe("12")
    const atLast = await numbers.allTextContents()
    expect(await page.getByText(/^The call for message/).textContent()).toContain(`${atLast[2]} (`)
    const over = figure.locator(".u-over")
    await over.hover({ position: { x: 5, y: 50 } })
    await expect.poll(() => numbers.first().textContent()).toBe("1")
    await over.click({ position: { x: 5, y: 50 } })
    await expect.poll(() => page.locator(".where strong").textContent()).toContain("Version 4 ")
    // Something is drawn: an empty canvas is transparent everywhere.
    const drawn = await page.locator("canvas").evaluateAll((all) =>
      all.map((one) => {
        const canvas = one as unknown as { readonly width: number; readonly height: number } & {
          getContext: (kind: "2d") => {
            getImageData: (...box: ReadonlyArray<number>) => { readonly data: ReadonlyArray<number> }
          }
        }
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
        return data.some((value) => value > 0)
      }),
    )
    expect(drawn).toEqual([true, true])
  })
})

describe("limits", () => {
  it("shows what is near its limit: trigger, window of the model, marks of the cache", async () => {
    const { url, memory } = await withSession({ strategy: "rounds" })
    const page = await opened(url, "#session=chat-1&view=tokens")
    const limits = page.getByRole("group", name("Limits"))
    const row = (text: string) => limits.locator("tr").filter({ hasText: text })
    const { tokens } = await memory.context("chat-1")
    const written = (value: number) => value.toLocaleString("en-US")
    await expect
      .poll(() => row("Window of the model").textContent())
      .toContain(`${written(tokens)}200,000 tokens`)
    await expect.poll(() => row("A + B").textContent()).toContain("7 turns")
    await expect.poll(() => row("cache_control marks").textContent()).toContain("4 marks")
    await page.getByLabel("Window of the model, in tokens").fill(String(tokens + 1))
    await expect.poll(() => row("Window of the model").textContent()).toContain("Near")
  })

  it("shows what was spent of a cap that is not reached, and of one that is", async () => {
    const { url, memory } = await withSession({
      strategy: "rounds",
      compaction: { mode: "manual" },
      summarizer: async ({ user }) => `${user.length} characters about orders`,
      spend: {
        session: { tokens: 1_000_000 },
        owner: { dollars: 2 },
        total: { tokens: 1 },
        prices: { summarizer: { input: 100, output: 200 } },
      },
    })
    const [session, owner, total] = (await memory.spend("chat-1")).caps
    const page = await opened(url, "#session=chat-1&view=tokens")
    const limits = page.getByRole("group", name("Limits"))
    const row = (text: string) => limits.locator("tr").filter({ hasText: text }).textContent()
    const spent = session!.tokens.toLocaleString("en-US")
    await expect.poll(() => row("Spend of this session")).toContain(`${spent}1,000,000 tokens`)
    expect(await row("Spend of the owner")).toContain(`$${owner!.dollars.toFixed(2)}$2.00`)
    expect(await row("Spend of all sessions")).toMatch(/1 token.*Reached/)
    expect(total!.reached).not.toBe(null)
    // The logs that count are no conversations.
    await page.getByRole("link", name("memfold studio")).click()
    const sessions = page.locator("tbody a")
    await expect.poll(() => sessions.allTextContents()).toEqual(["Orders"])
    await page.getByRole("searchbox").fill("memfold:spend")
    await expect.poll(() => sessions.allTextContents()).toContain("memfold:spend:owner:ann")
  })
})

describe("a narrow page", () => {
  it("has the name of the view that is shown in sight, also by keyboard", async () => {
    const { url } = await withSession()
    const page = await opened(url, "#session=chat-1&view=settings", { size: "narrow" })
    const names = page.getByRole("navigation", name("Views"))
    /** How far an element reaches out of the page, in pixels. */
    const outOfSight = async (selector: string) => {
      const { x, width } = (await names.locator(selector).boundingBox())!
      return Math.max(0, -x, x + width - sizes.narrow.width)
    }
    await names.waitFor()
    expect(await names.locator("[aria-current]").textContent()).toBe("Settings")
    expect(await outOfSight("[aria-current]")).toBe(0)
    await names.locator("[aria-current]").focus()
    for (const text of ["Audit", "Facts", "Compare", "Trace", "Tokens", "Through time"]) {
      await page.keyboard.press("Shift+Tab")
      expect(await names.locator(":focus").textContent()).toBe(text)
      expect(await outOfSight(":focus")).toBe(0)
    }
    await page.keyboard.press("Enter")
    await page.locator(".where").waitFor()
    expect(await names.locator("[aria-current]").textContent()).toBe("Through time")
    await page.goBack()
    await expect.poll(() => names.locator("[aria-current]").textContent()).toBe("Settings")
    expect(await outOfSight("[aria-current]")).toBe(0)
  })

  it("has the first message on its first screen", async () => {
    const { url } = await withSession()
    const page = await opened(url, "#session=chat-1", { size: "narrow" })
    await page.locator(".where").waitFor()
    const first = page.locator("article").filter({ visible: true }).first()
    await first.waitFor()
    expect((await first.boundingBox())!.y).toBeLessThan(500)
  })

  it("has each row of a table with its labels, and nothing beside the page", async () => {
    const { url } = await withSession({ strategy: "rounds" })
    const page = await opened(url, "#session=chat-1&view=tokens", { size: "narrow" })
    const row = page
      .getByRole("group", name("Limits"))
      .locator("tr")
      .filter({ hasText: "Window of the model" })
    await row.waitFor()
    for (const cell of await row.locator("th, td").all()) {
      const { x, width } = (await cell.boundingBox())!
      expect(x + width).toBeLessThanOrEqual(sizes.narrow.width)
    }
    const label = await row
      .locator("td")
      .first()
      .evaluate((one) => getComputedStyle(one, "::before").content)
    expect(label).toContain("Used")
  })
})

describe("other strategies", () => {
  it("are compared on the session: sizes, costs at one's own prices, needed identifiers", async () => {
    const { url, memory } = await withSession()
    const before = await memory.session("chat-1")
    const page = await opened(url, "#session=chat-1&view=compare")
    await page.getByRole("spinbutton", name("input")).fill("7")
    await page.locator("form").getByRole("button", name("Compare")).click()
    const rows = page.getByRole("group", name("The strategies compared")).locator("tbody tr")
    await expect.poll(() => rows.count()).toBe(3)
    // Three curves in each of three charts, with their numbers at the last call, and at the pointer.
    const numbers = page.locator("figure .u-series:not(:first-child) .u-value")
    expect(await numbers.count()).toBe(9)
    const calls = page.locator("figure .u-series:first-child .u-value")
    expect(await calls.allTextContents()).toEqual(["12", "12", "12"])
    await page
      .locator("figure .u-over")
      .first()
      .hover({ position: { x: 1, y: 50 } })
    await expect.poll(() => calls.allTextContents()).toEqual(["1", "1", "1"])
    const last = await rows.first().locator("td").last().textContent()
    expect(last).toMatch(/^\d+ of \d+$/)
    // So short a conversation is compacted by none of them.
    expect(await page.locator(".verdict").textContent()).toMatch(
      /^All cost \$[\d.]+: there was nothing to save yet\.$/,
    )
    expect(await rows.first().textContent()).toMatch(/full history12/)
    expect(await memory.session("chat-1")).toEqual(before)
  })

  it("says what a comparison of a long session would take, and that it took too long", async () => {
    const options = { store: storeFile(), compaction: { mode: "off" } } as const
    let service = await started(options)
    const { url } = service
    /** The service again, at its address. */
    const again = async (more: Parameters<typeof started>[0] = {}) => {
      await service.close()
      service = await started({ ...options, port: Number(new URL(url).port), ...more })
    }
    const memory = createClient({ url })
    const append = async (from: number, to: number) => {
      for (let n = from; n < to; n += 100)
        await memory.append("long", Array.from({ length: 100 }, (_, at) => turn(n + at)).flat())
    }
    await append(0, 1_400)
    const page = await opened(url, "#session=long&view=compare")
    const full = page.getByRole("checkbox", { name: /^full history/ })
    await full.waitFor()
    for (const other of ["break-even", "sliding-window"])
      await page.getByRole("checkbox", name(other)).uncheck()
    // Far less than such a comparison takes on any machine.
    await again({ timeout: "50 millis" })
    await page.locator("form").getByRole("button", name("Compare")).click()
    const said = page.getByRole("alert").filter({ hasText: "full history" })
    await said.waitFor()
    expect(await said.textContent()).toMatch(/^full history: It took longer than a request may/)
    await again()
    await append(1_400, 1_600)
    await page.reload()
    await page.getByRole("checkbox", name("full history (up to 3,000 messages)")).waitFor()
    expect(await full.isDisabled()).toBe(true)
    expect(await full.isChecked()).toBe(false)
  })

  it("tell how far they are, and are stopped: the service ends the work", async () => {
    let hasEnded = false
    const summarize = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (hasEnded = true)))
    const { url } = await started({ ...manual, summarizer: { name: "waits", summarize } })
    const memory = createClient({ url })
    for (let n = 0; n < 1_500; n += 100)
      await memory.append("long", Array.from({ length: 100 }, (_, at) => turn(n + at)).flat())
    const page = await opened(url, "#session=long&view=compare")
    const form = page.locator("form")
    await form.getByRole("button", name("Compare")).click()
    const bar = page.getByRole("progressbar", { name: /^Replaying under full history/ })
    await expect.poll(() => bar.getAttribute("max")).toBe("3000")
    await expect.poll(async () => Number(await bar.getAttribute("value"))).toBeGreaterThan(0)
    await page.getByRole("button", name("Stop")).click()
    await page.locator("form .primary:enabled").waitFor()
    expect(await bar.count()).toBe(0)
    // A preview with the summarizer of the service never ends, unless it is stopped.
    await page.route("**/preview", (route) =>
      route.continue({
        postData: JSON.stringify({ ...(route.request().postDataJSON() as object), summarizer: "own" }),
      }),
    )
    await page.getByRole("button", name("Through time")).click()
    await press(page, "Compact…")
    const preview = page.getByRole("status", name("Preview"))
    const looking = preview.getByRole("progressbar")
    await expect.poll(() => looking.getAttribute("max")).toBe("3000")
    await preview.getByRole("button", name("Stop")).click()
    await expect.poll(() => preview.textContent()).toBe("It was stopped.")
    await expect.poll(() => hasEnded).toBe(true)
  })

  it("are set in forms made from their schemas: A and B of rounds, with what they would have done", async () => {
    const { url, memory } = await withSession()
    const page = await opened(url, "#session=chat-1&view=settings")
    await page.getByRole("combobox", { name: "Strategy" }).selectOption("rounds")
    await page.getByRole("spinbutton", { name: /^A: how many complete turns/ }).fill("2")
    await page.getByRole("spinbutton", { name: /^B: how many turns become/ }).fill("2")
    const preview = page.getByRole("status", name("Preview"))
    await expect.poll(() => preview.textContent()).toMatch(/the context goes from/)
    await page.getByRole("button", name("Save for the service")).click()
    await page.getByText("Saved.").waitFor()
    const now = (await (await fetch(`${url}/v1/settings`)).json()) as Record<string, unknown>
    expect(now).toMatchObject({
      strategy: "rounds",
      settings: { fullContextTurns: 2, cachedContextTurns: 2 },
    })
    expect(await memory.summaries("chat-1")).toHaveLength(2)
    await page.getByRole("spinbutton", { name: /^A: how many complete turns/ }).fill("0")
    await expect.poll(() => preview.textContent()).toContain("fullContextTurns")
  })
})

describe("the audit", () => {
  it("says who did what, the newest first, and that the trail is as it was written", async () => {
    const { url, memory } = await withSession({ audit: { reads: true } })
    await memory.redact("chat-1", 1)
    await memory.context("chat-1")
    const page = await opened(url, "#session=chat-1&view=audit")
    const rows = page.locator("tbody tr")
    await rows.first().waitFor()
    const texts = await rows.allTextContents()
    for (const one of [/read.*context/i, /redact/i, /append.*user/i])
      expect(texts.some((text) => one.test(text))).toBe(true)
    expect(texts.join("")).not.toContain("where is order")
    await page.getByText(/^The trail of the session is as it was written$/).waitFor()
    await page.getByText(/append user 12/).waitFor()
  })
})

describe("facts", () => {
  it("have quotes and times, as they were known and as they were true, and are learned anew", async () => {
    const { url } = await started({ ...manual, layers: true })
    const memory = createClient({ url, format: "memfold" })
    for (const [text, day] of [
      ["I live in Graz.", "2024-01-10"],
      ["I live in Vienna.", "2025-03-15"],
    ] as const) {
      const said = (role: "user" | "assistant", text: string) => ({
        role,
        parts: [{ type: "text", text }],
        time: Date.parse(day),
      })
      await memory.append("chat-1", [said("user", text), said("assistant", "Noted.")], { owner: "ann" })
    }
    await memory.compact("chat-1", { which: "due" })
    const page = await opened(url, "#session=chat-1&view=facts")
    const rows = page.getByRole("group", name("What is known")).locator("tbody tr")
    const user = rows.filter({ hasText: "Lives in" })
    await expect.poll(() => user.count()).toBe(2)
    expect(await user.first().textContent()).toContain("Not any more")
    expect(await user.first().textContent()).toContain("“I live in Graz.”")
    await page.getByLabel("True on").fill("2024-06-01")
    await expect.poll(() => user.allTextContents()).toEqual([expect.stringContaining("Graz")])
    await page.getByRole("button", name("Learn anew")).click()
    await page.getByText("By rules 1").waitFor()
    await page.getByRole("button", name("Drop")).click()
    await expect.poll(() => page.getByText("By rules 1").count()).toBe(0)
  })

  it("that two extractors find are compared, with their quotes, and taken", async () => {
    const store = storeFile()
    const shouting: Extract<NonNullable<ServeOptions["layers"]>, object>["extractor"] = {
      name: "shouting",
      isFree: true,
      extract: () =>
        Effect.succeed([
          { predicate: "shouts", value: "HI, I'M ADA", quote: "Hi, I'm Ada. I live in Graz." },
        ]),
    }
    const before = await serve({ store, port: 0, log: "none", ...manual, layers: { extractor: shouting } })
    const memory = createClient({ url: before.url })
    const said = { role: "user" as const, content: "Hi, I'm Ada. I live in Graz." }
    await memory.append("chat-1", [said, { role: "assistant", content: "Noted." }], { owner: "ann" })
    await memory.compact("chat-1", { which: "due" })
    await before.close()
    const { url } = await started({ ...manual, store, layers: true })
    const page = await opened(url, "#session=chat-1&view=facts")
    await page.getByRole("button", name("Learn anew")).click()
    await page.getByText("By rules 1").waitFor()
    const changes = page.getByRole("group", name("What would change")).locator("tbody tr")
    await expect
      .poll(async () => (await changes.allTextContents()).map((row) => row.replace(/\d{4}.*?(?=“)/, "")))
      .toEqual(
        expect.arrayContaining([
          expect.stringMatching(/Graz.*Comes.*“.*I live in Graz\./),
          expect.stringMatching(/HI, I'M ADA.*Goes.*“Hi, I'm Ada\. I live in Graz\.”/),
        ]),
      )
    await page.getByRole("button", name("Take")).click()
    const known = page.getByRole("group", name("What is known")).locator("tbody tr")
    await expect.poll(async () => (await known.allTextContents()).join(" ")).toContain("Lives in: Graz")
    expect((await known.allTextContents()).join(" ")).not.toContain("HI, I'M ADA")
  })
})

describe("what can be done", () => {
  it("is in two buttons and a menu, which closes by Escape and by what is chosen", async () => {
    const { url } = await withSession()
    const page = await opened(url, "#session=chat-1")
    const buttons = page.getByRole("group", name("What to do")).getByRole("button")
    await buttons.first().waitFor()
    expect(await buttons.allTextContents()).toEqual(["Compact…", "Undo…", "More"])
    await page.getByRole("button", name("More")).click()
    await expect.poll(() => buttons.count()).toBe(8)
    await page.keyboard.press("Escape")
    await expect.poll(() => buttons.count()).toBe(3)
    await press(page, "Fork…")
    await page.getByRole("dialog").waitFor()
    await page.keyboard.press("Escape")
    await expect.poll(() => buttons.count()).toBe(3)
  })

  it("takes a compaction back in three clicks, and says before what it will do", async () => {
    const { url, memory } = await withSession()
    const before = await memory.summaries("chat-1")
    const page = await opened(url)
    await page.getByRole("link", name("Orders")).click()
    await page.getByRole("button", name("Undo…")).click()
    expect(await page.getByRole("dialog").textContent()).toMatch(/Takes back the compaction of .* tokens/)
    expect(await memory.summaries("chat-1")).toEqual(before)
    await page.getByRole("button", name("Take back")).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    const after = await memory.summaries("chat-1")
    expect(after.map(({ status }) => status)).toEqual(["active", "invalid"])
    await page.keyboard.press("[")
    await page.getByText("Taken back").waitFor()
  })

  it("recompacts under another strategy, after a preview, and has the old one again by undo", async () => {
    const { url, memory } = await withSession({ strategy: "rounds", compaction: { mode: "manual" } })
    const page = await opened(url, "#session=chat-1")
    const before = await memory.context("chat-1")
    await press(page, "Recompact…")
    const dialog = page.getByRole("dialog")
    await page.getByRole("combobox", { name: "Strategy" }).selectOption("sliding-window")
    await page.getByLabel("Settings, as JSON").fill('{"tailKeepSize": 2, "compressionWindowSize": 2}')
    await dialog.getByText(/the context goes from/).waitFor()
    expect(await memory.context("chat-1")).toEqual(before)
    await dialog.getByRole("button", name("Recompact")).click()
    await dialog.waitFor({ state: "detached" })
    const after = await memory.context("chat-1")
    expect(after.tokens).toBeLessThan(before.tokens)
    const { summary } = await memory.session("chat-1")
    await page.getByRole("button", name("Undo…")).click()
    await page.getByRole("button", name("Take back")).click()
    await dialog.waitFor({ state: "detached" })
    const known = await memory.summaries("chat-1")
    expect(known.find(({ id }) => id === summary)?.status).toBe("invalid")
    expect(shown(await memory.context("chat-1"))).toEqual(shown(before))
  })

  it("reverts to an earlier summary, undoes that, and does it again", async () => {
    const { url, memory } = await withSession({ strategy: "rounds", compaction: { mode: "manual" } })
    const before = await memory.context("chat-1")
    const [first] = await memory.summaries("chat-1")
    const page = await opened(url, `#session=chat-1&version=${first!.version}`)
    const dialog = page.getByRole("dialog")
    await press(page, "Revert…")
    expect(await dialog.textContent()).toMatch(/the summary for the first \d+ messages is in force again/)
    expect(await memory.context("chat-1")).toEqual(before)
    await dialog.getByRole("button", name("Revert")).click()
    await dialog.waitFor({ state: "detached" })
    const reverted = await memory.context("chat-1")
    expect((await memory.session("chat-1")).summary).toBe(first!.id)
    for (const [says, expected] of [
      ["Takes back the revert", before],
      ["Takes back the undo", reverted],
    ] as const) {
      await expect
        .poll(() => page.locator(".where strong").textContent())
        .toContain(`of ${(await memory.session("chat-1")).version}`)
      await page.getByRole("button", name("Undo…")).click()
      expect(await dialog.textContent()).toContain(says)
      await page.getByRole("button", name("Take back")).click()
      await dialog.waitFor({ state: "detached" })
      expect(shown(await memory.context("chat-1"))).toEqual(shown(expected))
    }
  })

  it("edits and pins, and undoes both; a redaction says that nothing brings the text back", async () => {
    const { url, memory } = await withSession({ strategy: "rounds", compaction: { mode: "manual" } })
    const page = await opened(url, "#session=chat-1")
    const dialog = page.getByRole("dialog")
    const before = await memory.messages("chat-1")
    const undo = async () => {
      await expect
        .poll(() => page.locator(".where strong").textContent())
        .toContain(`of ${(await memory.session("chat-1")).version}`)
      await page.getByRole("button", name("Undo…")).click()
      expect(await dialog.textContent()).toContain("Takes back the change of the branch")
      await page.getByRole("button", name("Take back")).click()
      await dialog.waitFor({ state: "detached" })
      expect((await memory.messages("chat-1")).messages).toEqual(before.messages)
    }
    await page.getByRole("button", name("What to do with message 23")).click()
    await page.getByRole("button", name("Edit from here…")).click()
    expect(await dialog.textContent()).toContain(
      "This message as it was and the 1 message behind it stay in the log",
    )
    await page.getByLabel("Text").fill("Another question")
    await page.getByRole("button", name("Edit")).click()
    await dialog.waitFor({ state: "detached" })
    expect((await memory.messages("chat-1")).messages).not.toEqual(before.messages)
    await undo()
    await page.getByRole("button", name("What to do with message 23")).click()
    await page.getByRole("button", name("Pin…")).click()
    await dialog.getByRole("button", name("Pin")).click()
    await dialog.waitFor({ state: "detached" })
    await undo()
    await page.getByRole("button", name("What to do with message 23")).click()
    await page.getByRole("button", name("Redact…")).click()
    expect(await dialog.textContent()).toContain("Nothing brings it back.")
    await page.keyboard.press("Escape")
    expect((await memory.messages("chat-1")).messages).toEqual(before.messages)
  })

  it("exports the context of a version, the conversation and the log, and changes nothing", async () => {
    const { url, memory } = await withSession()
    const before = await memory.session("chat-1")
    const page = await opened(url, "#session=chat-1&version=5")
    const saved = async (what: string): Promise<string> => {
      await press(page, "Export…")
      await page.locator('select[name="what"]').selectOption(what)
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", name("Save")).click(),
      ])
      await page.getByRole("dialog").waitFor({ state: "detached" })
      return readFileSync(await download.path(), "utf8")
    }
    expect(JSON.parse(await saved("context"))).toEqual(
      (await memory.context("chat-1", { atVersion: 5 })).messages,
    )
    expect(JSON.parse(await saved("messages"))).toHaveLength(25)
    expect((await saved("log")).trim().split("\n")).toHaveLength(before.version)
    expect(await memory.session("chat-1")).toEqual(before)
  })

  it("is done by keyboard: a dialog opens, is left, and acts", async () => {
    const { url, memory } = await withSession()
    const page = await opened(url, "#session=chat-1")
    const dialog = page.getByRole("dialog")
    const button = page.getByRole("button", name("Undo…"))
    // Until the page knows what it may do, nothing can have the focus there.
    await expect.poll(() => button.isEnabled()).toBe(true)
    await button.focus()
    await page.keyboard.press("Enter")
    await dialog.waitFor()
    await page.keyboard.press("Escape")
    // A dialog that is closed has no role any more, and is there until it has told the page.
    await page.locator("dialog").waitFor({ state: "detached" })
    await button.focus()
    await page.keyboard.press("Enter")
    await dialog.getByRole("button", name("Take back")).waitFor()
    await dialog.getByRole("button", name("Take back")).focus()
    await page.keyboard.press("Enter")
    await dialog.waitFor({ state: "detached" })
    expect((await memory.summaries("chat-1")).map(({ status }) => status)).toEqual(["active", "invalid"])
  })

  it("compacts, pins, forks, and redacts", async () => {
    const { url, memory } = await withSession({ strategy: "rounds", compaction: { mode: "manual" } })
    const page = await opened(url, "#session=chat-1")
    const { coveredTo } = await memory.session("chat-1")
    const dialog = page.getByRole("dialog")
    const { version } = await memory.append("chat-1", turn(12))
    await page.getByRole("button", name("Compact…")).click()
    await dialog.getByText(/the context goes from [\d,]+ to [\d,]+ tokens/).waitFor()
    expect((await memory.session("chat-1")).version).toBe(version)
    await dialog.getByRole("button", name("Compact")).click()
    await dialog.waitFor({ state: "detached" })
    expect((await memory.session("chat-1")).coveredTo).toBeGreaterThan(coveredTo)

    await page.getByRole("button", name("What to do with message 23")).click()
    await page.getByRole("button", name("Pin…")).click()
    await dialog.getByRole("button", name("Pin")).click()
    await dialog.waitFor({ state: "detached" })
    const inNeutral = createClient<{ readonly pinned?: boolean }>({ url, format: "memfold" })
    const { messages } = await inNeutral.messages("chat-1")
    expect(messages.map(({ pinned }) => pinned === true).lastIndexOf(true)).toBe(23)
    expect(messages).toHaveLength(27)

    await press(page, "Fork…")
    await dialog.getByRole("button", name("Fork")).click()
    await expect.poll(() => page.url()).toContain("chat-1-fork")
    await page.getByRole("button", name("What to do with message 26")).click()
    await page.getByRole("button", name("Redact…")).click()
    await dialog.getByRole("button", name("Erase for good")).click()
    await dialog.waitFor({ state: "detached" })
    expect(JSON.stringify((await memory.messages("chat-1-fork")).messages)).not.toContain("Answer 12")
  })

  it("says what went wrong, and writes nothing", async () => {
    const { url } = await withSession()
    const page = await opened(url, "#session=chat-1")
    await press(page, "Fork…")
    await page.getByLabel("The id of the new session").fill("chat-1")
    await page.getByRole("dialog").getByRole("button", name("Fork")).click()
    await page.getByRole("dialog").getByRole("alert").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
  })
})

describe("who may do what", () => {
  it("asks for a token, and only shows what it may do", async () => {
    const { token, stored } = makeToken({ tenant: "acme", rights: ["read"] })
    const writer = makeToken({ tenant: "acme", rights: ["read", "write"] })
    const { url } = await started({ tokens: [stored, writer.stored] })
    await createClient({ url, token: writer.token }).append("s", { role: "user", content: "Hello" })
    const page = await opened(url)
    await page.getByRole("textbox", name("Token")).fill("no token of a header: 密钥")
    await page.getByRole("button", name("Use it")).click()
    expect(await page.getByRole("alert").textContent()).not.toContain("reached")
    await page.getByRole("textbox", name("Token")).fill(token)
    await page.getByRole("button", name("Use it")).click()
    await page.getByRole("link", name("s")).click()
    await page.getByText("Read only").waitFor()
    expect(await page.getByRole("button", name("Compact…")).isDisabled()).toBe(true)
    await page.getByRole("button", name("More")).click()
    expect(await page.getByRole("button", name("Fork…")).isDisabled()).toBe(true)
    expect(await page.getByRole("button", name("Export…")).isDisabled()).toBe(false)
  })

  it("only reads where the service only reads", async () => {
    const { url } = await started({ readOnly: true })
    const refused = await createClient({ url })
      .append("s", { role: "user", content: "Hello" })
      .catch(({ status }: { readonly status: number }) => status)
    expect(refused).toBe(403)
    const page = await opened(url)
    await page.getByText("Read only").waitFor()
  })
})

describe("an id that no address can have", () => {
  it("is in the list, beside the others, and its page says why it shows nothing else", async () => {
    const store = storeFile()
    const { append, close } = createMemory({ store })
    for (const session of [".", "..", "context"])
      await append(session, { role: "user", content: `This is ${session}` })
    await close()
    const { url } = await started({ ...manual, store })
    const page = await opened(url)
    for (const session of [".", ".."]) {
      await page.getByRole("link", name(session)).click()
      await page.getByText("No address can have the id").first().waitFor()
      await page.goBack()
    }
    await page.getByRole("link", name("context")).click()
    await page.getByText("This is context").first().waitFor()
  })
})

describe("what messages have in them", () => {
  it("stays text: scripts, handlers, links and names of files", async () => {
    const { url } = await started()
    const memory = createClient({ url })
    const attack = `<script>window.hit=1</script><img src=x onerror="window.hit=2"><a href="javascript:window.hit=3">x</a>`
    const call = { id: "c", type: "function", function: { name: `f"><b>`, arguments: attack } }
    await memory.append(
      attack,
      [
        { role: "user", content: attack },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c", content: attack },
        { role: "user", content: [{ type: "image_url", image_url: { url: "javascript:window.hit=4" } }] },
      ],
      { title: attack, owner: attack },
    )
    const page = await opened(url)
    await page.getByRole("link", name(attack)).click()
    await page.getByRole("heading", name(attack)).waitFor()
    await page.getByText(attack).nth(3).waitFor()
    expect(await page.locator("#page script, #page img, #page b, a[href^='javascript']").count()).toBe(0)
    expect(await page.evaluate("window.hit")).toBe(undefined)
  })

  it("could not do anything if it became an element: the policy refuses it", async () => {
    const { url } = await started()
    const response = await fetch(`${url}/studio/`)
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'")
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.goto(`${url}/studio/`)
    const refused = await page.evaluate(async () => {
      const names: Array<string> = []
      document.addEventListener("securitypolicyviolation", (event) => names.push(event.effectiveDirective))
      const image = document.createElement("img")
      image.src = "https://example.org/x.png"
      document.body.append(image)
      const link = document.createElement("a")
      link.href = "javascript:window.hit=1"
      document.body.append(link)
      link.click()
      try {
        document.body.innerHTML = "<img src=x onerror='window.hit=2'>"
      } catch {
        names.push("innerHTML")
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
      return [...names, (window as { hit?: number }).hit ?? "nothing ran"]
    })
    expect(refused).toEqual(expect.arrayContaining(["img-src", "innerHTML", "nothing ran"]))
  })
})

describe("everybody can use it", () => {
  let service: Service
  beforeAll(async () => {
    service = await serve({
      ...manual,
      store: "memory:",
      port: 0,
      log: "none",
      layers: true,
      site: pageFiles(),
    })
    await filled(service.url)
  })
  afterAll(() => service.close())
  /** A view or a form: its title, its address, and the button that opens the form. */
  const views: ReadonlyArray<readonly [title: string, fragment: string, button?: string]> = [
    ["the list", ""],
    ["a session", "#session=chat-1"],
    ["tokens", "#session=chat-1&view=tokens"],
    ["a trace", "#session=chat-1&view=trace"],
    ["compare", "#session=chat-1&view=compare"],
    ["facts", "#session=chat-1&view=facts"],
    ["the audit", "#session=chat-1&view=audit"],
    ["settings", "#session=chat-1&view=settings"],
    ["compacting", "#session=chat-1", "Compact…"],
    ["undoing", "#session=chat-1", "Undo…"],
    ["recompacting", "#session=chat-1", "Recompact…"],
    ["reverting", "#session=chat-1&version=3", "Revert…"],
    ["forking", "#session=chat-1", "Fork…"],
    ["describing", "#session=chat-1", "Describe…"],
    ["exporting", "#session=chat-1", "Export…"],
    ["a message", "#session=chat-1", "What to do with message 24"],
  ]
  const shownAt = async (page: Page, fragment: string, button?: string): Promise<void> => {
    const first =
      fragment === ""
        ? "tbody tr"
        : /audit|facts/.test(fragment)
          ? "tbody tr"
          : /trace|compare|settings/.test(fragment)
            ? "form"
            : ".where"
    await page.locator(first).first().waitFor()
    if (fragment.includes("tokens")) await page.locator("figure").waitFor()
    if (fragment.includes("compare")) {
      await page.locator("form").getByRole("button", name("Compare")).click()
      await page.getByText(/is cheapest|^All cost/).waitFor({ timeout: 60_000 })
      await page.getByText(/^What break-even would have sent/).click()
    }
    if (button === undefined) return
    const said = page.getByRole("tab", name("As it was said"))
    if (button.startsWith("What") && (await said.isVisible())) await said.click()
    await press(page, button)
    await page.getByRole("dialog").waitFor()
  }
  /** What axe finds on a page, by all its rules or by some. */
  const violationsOf = async (page: Page, rules?: ReadonlyArray<string>): Promise<unknown> => {
    // As an extension of the browser would: the policy takes no program from elsewhere.
    const session = await page.context().newCDPSession(page)
    const evaluated = async (expression: string) => {
      const asked = { expression, awaitPromise: true, returnByValue: true }
      const { result, exceptionDetails } = await session.send("Runtime.evaluate", asked)
      expect(exceptionDetails).toBe(undefined)
      return result.value as unknown
    }
    await evaluated(`${axe.source}; undefined`)
    return evaluated(
      `axe.run(${JSON.stringify(rules === undefined ? {} : { runOnly: rules })}).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => html + failureSummary) })))`,
    )
  }
  /** Each view in both sizes, or in a quick run in one of them: the sizes take turns. */
  const looks = views.flatMap(([title, fragment, button], at) =>
    (["wide", "narrow"] as const)
      .filter((_, size) => deep || size === at % 2)
      .map((size) => ({ title, fragment, button, size })),
  )

  it.each(looks)(
    "$title, $size: axe finds nothing in either colours, and the keyboard reaches everything",
    async ({ fragment, size, button }) => {
      const page = await opened(service.url, fragment, { size })
      await shownAt(page, fragment, button)
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        // Only contrast depends on the colours.
        const found = await violationsOf(page, colorScheme === "light" ? undefined : ["color-contrast"])
        expect({ colorScheme, found }).toEqual({ colorScheme, found: [] })
      }
      // Nothing is wider than the page.
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(width).toBeLessThanOrEqual(sizes[size].width)
      await page.evaluate(() => {
        document.addEventListener("focusin", ({ target }) =>
          (target as Element).setAttribute("data-reached", ""),
        )
      })
      // Rows of lists come and go; arrows go from tab to tab.
      const missed = () =>
        page.evaluate(() => {
          const within = document.querySelector("dialog") ?? document
          const all = "a, button, input, select, textarea, summary, [tabindex='0']"
          return [...within.querySelectorAll(all)]
            .filter((one) => one.checkVisibility() && one.closest(".scroll .virtual, :disabled") === null)
            .filter((one) => one.getAttribute("tabindex") !== "-1" && !one.hasAttribute("data-reached"))
            .map(({ outerHTML }) => outerHTML.slice(0, 200))
        })
      for (let times = 0; times < 9 && (await missed()).length > 0; times++)
        for (let tabs = 0; tabs < 10; tabs++) await page.keyboard.press("Tab")
      expect(await missed()).toEqual([])
    },
  )
})
