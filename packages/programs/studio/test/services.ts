/** Services with the page, and a browser, for the tests. */
import { launchOptions } from "@memfold/harness/chromium"
import { serve, type ServeOptions, type Service } from "@memfold/server"
import { type Browser, chromium, type Page } from "playwright-core"
import { onTestFinished } from "vitest"
import { pageFiles } from "../src/index.js"

/** Starts a service with the page, for one test. */
export const started = async (options: ServeOptions = {}): Promise<Service> => {
  const service = await serve({ store: "memory:", port: 0, log: "none", site: pageFiles(), ...options })
  onTestFinished(service.close)
  return service
}

/** A question and its answer. */
export const turn = (n: number): Array<Record<string, unknown>> => [
  { role: "user", content: `Question ${n}: where is order KX-${4_470 + n}? `.repeat(20) },
  { role: "assistant", content: `Answer ${n}: it was sent on day ${n}. `.repeat(20) },
]

/** Starts a browser. */
export const browser = (): Promise<Browser> => chromium.launch(launchOptions())

/** What went wrong on a page: errors of its program, and what its policy refused. */
export const problemsOf = (page: Page): ReadonlyArray<string> => {
  const problems: Array<string> = []
  page.on("pageerror", ({ message }) => problems.push(message))
  page.on("console", (message) => {
    // A request that is refused is the page's to show.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      problems.push(message.text())
  })
  return problems
}
