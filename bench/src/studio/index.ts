/**
 * Measures the page of studio in a browser on a session of 10,000 messages: first paint, a step of the slider, the trace of a message,
 * and what a comparison leaves of the page and of its service. Then previews, and a client who leaves one, without the page.
 *
 * `npm run bench -- studio --messages 10000 --steps 40`
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Browser, Page } from "playwright-core"
import { median, milliseconds, told, within } from "../measure.js"
import { previews, traces } from "./alone.js"
import { longTranscript } from "./longTranscript.js"
import { startBrowser, startStudio } from "./startStudio.js"

const largest = (times: ReadonlyArray<number>): number => Math.max(0, ...times)

// What runs in the page is text: the types of this package are those of Node.

/** Notes when the parts of the page are there, in milliseconds from the request for the page. */
const noting = `
  globalThis.noted = {}
  const look = () => {
    for (const selector of ["article", ".where"])
      if (document.querySelector(selector) !== null) noted[selector] ??= performance.now()
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
`

/** Opens an address of the page and waits for something on it. */
const opened = async (browser: Browser, address: string, awaited: string): Promise<Page> => {
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } })
  await page.addInitScript({ content: noting })
  await page.goto(address)
  await page.locator(awaited).first().waitFor({ timeout: 120_000 })
  return page
}

interface Paints {
  /** The first paint. */
  readonly first: number
  /** A message of what the model gets is there. */
  readonly context: number
  /** The whole session is there. */
  readonly whole: number
}

const paints = (page: Page): Promise<Paints> =>
  page.evaluate(`({
    first: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    context: noted["article"],
    whole: noted[".where"],
  })`)

/** The time from moving the slider until the page has painted the version, in milliseconds. */
const step = (page: Page, version: number): Promise<number> =>
  page.evaluate(`new Promise((resolve) => {
    const slider = document.querySelector("input[type=range]")
    const began = performance.now()
    slider.value = "${version}"
    slider.dispatchEvent(new Event("input", { bubbles: true }))
    const look = () => {
      const shown = document.querySelector(".where strong").textContent
      if (!shown.startsWith("Version ${version.toLocaleString("en-US")} ")) return requestAnimationFrame(look)
      // A message comes behind the painting of the frame.
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => resolve(performance.now() - began)
      port2.postMessage(null)
    }
    requestAnimationFrame(look)
  })`)

/** Asks a service again and again until the work has ended. Returns how long each answer took, in milliseconds. */
const asking = async (url: string, work: Promise<unknown>): Promise<ReadonlyArray<number>> => {
  const times: Array<number> = []
  const ended = work.then(() => true)
  const pause = () => new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 50))
  do times.push(await milliseconds(async () => (await fetch(`${url}/v1/access`)).arrayBuffer()))
  while (!(await Promise.race([ended, pause()])))
  return times
}

/** Compares the session under two strategies; the service refuses its full history. Returns the time of all, of the slowest answer meanwhile, and of the longest frame. */
const comparing = async (page: Page, url: string) => {
  await page.evaluate(`{
    globalThis.longest = 0
    let before = performance.now()
    const look = (now) => {
      longest = Math.max(longest, now - before)
      before = now
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }`)
  const work = async () => {
    await page.getByRole("checkbox", { name: /^full history/ }).uncheck()
    await page.locator("form").getByRole("button", { name: "Compare" }).click()
    await page.locator("form .primary:enabled").waitFor({ timeout: 600_000 })
    for (const problem of await page.getByRole("alert").allTextContents()) told(problem, "not compared")
  }
  let answers: ReadonlyArray<number> = []
  const time = await milliseconds(async () => (answers = await asking(url, work())))
  const frame = await page.evaluate<number>("longest")
  return { time, answer: largest(answers), frame }
}

/** Measures and prints. Returns whether everything is within its bounds. */
export const studio = async (args: ReadonlyArray<string> = []): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: { messages: { type: "string", default: "10000" }, steps: { type: "string", default: "40" } },
  })
  const [messages, steps] = [Number(values.messages), Number(values.steps)]
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  const file = join(folder, "long.jsonl")
  writeFileSync(file, longTranscript(messages))
  const browser = await startBrowser()
  try {
    console.log(`\nThe page of studio on a session of ${messages.toLocaleString("en-US")} messages`)
    const began = performance.now()
    const { url, close } = await startStudio([file])
    let isGood = false
    told("memfold studio has read and replayed the file", `${Math.round(performance.now() - began)} ms`)
    try {
      const at = (view: string) => `${url}/studio/#session=long&view=${view}`
      // The first page fills the caches of the service and of the browser, as everybody's first page does; it is told beside.
      const cold = await opened(browser, at("time"), ".where")
      told("the first page of all: first paint", `${Math.round((await paints(cold)).first)} ms`)
      await cold.close()
      const page = await opened(browser, at("time"), ".where")
      const { first: firstPaint, context, whole } = await paints(page)
      const newest = Number(await page.getByRole("slider").getAttribute("max"))
      told("the whole session is there", `${Math.round(whole)} ms`)
      const good = [
        within("first paint", firstPaint, 1_000),
        within("what the model gets is there", context, 1_000),
      ]
      const near: Array<number> = []
      const far: Array<number> = []
      for (let at = 0; at < steps; at++) {
        const version = Math.max(2, Math.floor((newest * ((at * 7) % steps)) / steps))
        far.push(await step(page, version))
        near.push(await step(page, version + 1))
      }
      told("a step of the slider, median: to the next version", `${Math.round(median(near))} ms`)
      told("a step of the slider, median: anywhere", `${Math.round(median(far))} ms`)
      good.push(
        within("the slowest step of the slider to the next version", largest(near), 100),
        within("the slowest step of the slider anywhere", largest(far), 100),
      )
      await page.getByRole("slider").fill(String(Math.floor(newest / 2)))
      const lives = async (nth: number): Promise<number> => {
        const message = page.getByRole("button", { name: /^What to do with message/ }).nth(nth)
        await message.waitFor()
        const time = await milliseconds(async () => {
          await message.click()
          await page.getByText(/Lives on in|No summary covers it/).waitFor()
        })
        await page.keyboard.press("Escape")
        return time
      }
      const first = await lives(0)
      told("the first look for summaries, which builds the index of the words", `${Math.round(first)} ms`)
      const looks: Array<number> = []
      for (const nth of [1, 2, 3, 4, 5]) looks.push(await lives(nth))
      good.push(within("the summaries in which a message lives on, median", median(looks), 1_000))
      await page.close()
      good.push(await traces(url, messages))
      const traced = await opened(browser, at("time"), ".where")
      const summary = await milliseconds(async () => {
        await traced.getByRole("button", { name: "Trace", exact: true }).click()
        await traced.getByText(/\d sentences?, /).waitFor()
      })
      await traced.close()
      good.push(within("what the newest summary rests on", summary, 1_000))
      const compared = await opened(browser, at("compare"), "form")
      const { time, answer, frame } = await comparing(compared, url)
      await compared.close()
      good.push(
        within("two strategies are compared", time, 10_000),
        within("the slowest answer of the service while it compares", answer, 1_000),
        within("the longest frame of the page while it compares", frame, 200),
      )
      isGood = good.every(Boolean)
    } finally {
      await close()
    }
    console.log("\nA service on the session as it was said, without a compaction")
    return (await previews(folder, messages)) && isGood
  } finally {
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
