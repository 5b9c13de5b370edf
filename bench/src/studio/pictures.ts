/**
 * Makes pictures of each view of studio, wide and narrow, light and dark: of the shipped coding agent, of the longest session in the
 * files and folders that are named, and of a generated session of 10,000 messages.
 *
 * `npm run pictures -- FOLDER… --only sample,files,long --out DIR`
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Browser, Page } from "playwright-core"
import { longTranscript } from "./longTranscript.js"
import { startBrowser, startStudio } from "./startStudio.js"

const sizes = { wide: { width: 1_440, height: 900 }, narrow: { width: 390, height: 844 } } as const

/** A picture: where it is, and what is done and waited for before it is taken. */
interface View {
  readonly fragment: (session: string) => string
  readonly prepare: (page: Page) => Promise<unknown>
}

const at = (view: string) => (session: string) =>
  `#${new URLSearchParams({ session, ...(view === "time" ? {} : { view }) })}`

const there = (page: Page) => page.locator(".where").first().waitFor({ timeout: 60_000 })
/** Presses a button, which may be in the menu. */
const clicked = async (page: Page, name: string) => {
  const button = page.getByRole("button", { name, exact: true }).first()
  if (!(await button.isVisible())) await page.getByRole("button", { name: "More" }).click()
  await button.click()
}
const tab = async (page: Page, name: string) => {
  await there(page)
  await page.keyboard.press("[")
  const found = page.getByRole("tab", { name, exact: true })
  if ((await found.count()) > 0) await found.click()
}
/** A preview is there. */
const previewed = (page: Page) =>
  page
    .getByText(/Nothing has been written yet|Nothing would be done/)
    .first()
    .waitFor({ timeout: 120_000 })
const dialog = async (page: Page, button: string) => {
  await there(page)
  await clicked(page, button)
  await page.getByRole("dialog").waitFor()
  if (button.endsWith("ompact…")) await previewed(page)
}

const views: Readonly<Record<string, View>> = {
  sessions: { fragment: () => "", prepare: (page) => page.locator("tbody tr").first().waitFor() },
  time: { fragment: at("time"), prepare: there },
  summary: { fragment: at("time"), prepare: (page) => tab(page, "Summary") },
  difference: { fragment: at("time"), prepare: (page) => tab(page, "Difference") },
  replaced: { fragment: at("time"), prepare: (page) => tab(page, "Replaced") },
  tokens: {
    fragment: at("tokens"),
    prepare: (page) => page.locator("figure").first().waitFor({ timeout: 60_000 }),
  },
  trace: {
    fragment: at("trace"),
    prepare: async (page) => {
      await page.locator("form").first().waitFor()
      await page.getByText(/Tracing/).waitFor({ state: "detached", timeout: 60_000 })
      const sentence = page.locator(".sentence").first()
      if ((await sentence.count()) > 0) await sentence.click()
    },
  },
  compare: {
    fragment: at("compare"),
    prepare: async (page) => {
      await page.locator("form").getByRole("button", { name: "Compare" }).click({ timeout: 60_000 })
      await page.locator("form .primary:enabled").waitFor({ timeout: 600_000 })
    },
  },
  settings: {
    fragment: at("settings"),
    prepare: async (page) => {
      await page.getByRole("combobox", { name: "Strategy" }).selectOption("rounds")
      await previewed(page)
    },
  },
  compact: { fragment: at("time"), prepare: (page) => dialog(page, "Compact…") },
  undo: { fragment: at("time"), prepare: (page) => dialog(page, "Undo…") },
  recompact: { fragment: at("time"), prepare: (page) => dialog(page, "Recompact…") },
  export: { fragment: at("time"), prepare: (page) => dialog(page, "Export…") },
  message: {
    fragment: at("time"),
    prepare: async (page) => {
      await there(page)
      // Beside what the model got there is no room for it on a narrow page.
      const said = page.getByRole("tab", { name: "As it was said" })
      if (await said.isVisible()) await said.click()
      await page
        .getByRole("button", { name: /^What to do with message/ })
        .last()
        .click()
      await page.getByText(/Lives on in|No summary covers it/).waitFor()
    },
  },
}

/** Takes the pictures of one session. */
const take = async (
  browser: Browser,
  {
    url,
    session,
    name,
    out,
    only,
  }: {
    readonly url: string
    readonly session: string
    readonly name: string
    readonly out: string
    readonly only: ReadonlyArray<string>
  },
): Promise<void> => {
  for (const [view, { fragment, prepare }] of Object.entries(views)) {
    if (only.length > 0 && !only.includes(view)) continue
    for (const [size, viewport] of Object.entries(sizes)) {
      const page = await browser.newPage({ viewport })
      page.on("pageerror", ({ message }) => console.error(`${name} ${view} ${size}: ${message}`))
      try {
        await page.goto(`${url}/studio/${fragment(session)}`)
        await prepare(page)
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme })
          const path = join(out, `${name}-${view}-${size}-${colorScheme}.png`)
          await page.screenshot({ path, fullPage: true })
        }
        const tooWide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")
        if (tooWide > 0) throw new Error(`${tooWide} pixels wider than the page`)
      } catch (error) {
        const [why] = String(error).split("\n", 1)
        console.error(`${name} ${view} ${size}: ${why}`)
        process.exitCode = 1
      } finally {
        await page.close()
      }
    }
  }
  console.log(`${name}: ${session}`)
}

/** The session with the most events. */
const longest = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/v1/sessions?limit=1000`)
  const { sessions } = (await response.json()) as {
    readonly sessions: ReadonlyArray<{ readonly session: string; readonly version: number }>
  }
  return sessions.toSorted((one, other) => other.version - one.version)[0]!.session
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string", default: "sample,files,long" },
    views: { type: "string", default: "" },
    out: { type: "string", default: ".pictures" },
  },
})
const only = values.views.split(",").filter((view) => view !== "")
mkdirSync(values.out, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), "memfold-pictures-"))
const long = join(folder, "long.jsonl")
writeFileSync(long, longTranscript(10_000))
const subjects: Readonly<Record<string, ReadonlyArray<string> | null>> = {
  sample: [],
  files: positionals.length === 0 ? null : positionals,
  long: [long],
}
const browser = await startBrowser()
try {
  for (const name of values.only.split(",")) {
    const operands = subjects[name]
    if (operands === null || operands === undefined) continue
    const { url, close } = await startStudio(operands)
    try {
      const session = name === "sample" ? "coding-agent" : await longest(url)
      await take(browser, { url, session, name, out: values.out, only })
    } finally {
      await close()
    }
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}
