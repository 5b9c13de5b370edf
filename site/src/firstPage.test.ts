/** The first page as it is built, in a real browser: the sample conversation, and a strategy whose numbers are sliders. */
import { launchOptions } from "@memfold/harness/chromium"
import { deep } from "@memfold/harness/depth"
import axe from "axe-core"
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { extname, join } from "node:path"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { root } from "./pages.js"

const address = "http://memfold.test"
const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
}

const folder = mkdtempSync(join(tmpdir(), "memfold-first-page-"))
let browser: Browser
beforeAll(async () => {
  const vitepress = join(root, "site/node_modules/.bin/vitepress")
  execFileSync(vitepress, ["build", "--outDir", join(folder, "site")], {
    cwd: join(root, "site"),
    env: { ...process.env, NODE_ENV: "production", SITE_FIRST_PAGE: "1" },
    stdio: "pipe",
  })
  browser = await chromium.launch(launchOptions())
}, 600_000)
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Opens the page, from the built files. What goes wrong on it, or is asked for elsewhere, fails the test. */
const opened = async (width: number, isDark: boolean): Promise<Page> => {
  const page = await browser.newPage({
    viewport: { width, height: 900 },
    colorScheme: isDark ? "dark" : "light",
  })
  const problems: Array<string> = []
  page.on("pageerror", ({ message }) => problems.push(message))
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text())
  })
  await page.route("**/*", async (route) => {
    const { origin, pathname } = new URL(route.request().url())
    const file = join(folder, "site", pathname.endsWith("/") ? `${pathname}index.html` : pathname)
    if (origin !== address || !existsSync(file)) {
      problems.push(`no ${origin}${pathname}`)
      return route.abort()
    }
    const contentType = types[extname(file)] ?? "application/octet-stream"
    return route.fulfill({ body: readFileSync(file), contentType })
  })
  onTestFinished(async () => {
    await page.close()
    expect(problems).toEqual([])
  })
  await page.goto(`${address}/`)
  return page
}

const tried = async (page: Page) => {
  await page.locator(".try").scrollIntoViewIfNeeded()
  await page.getByRole("region", { name: "What the model gets" }).waitFor({ timeout: 60_000 })
}

/** The first number in a text. */
const numberIn = (text: string | null): number =>
  Number(/[\d,.]+/.exec(text ?? "")?.[0].replaceAll(",", "") ?? Number.NaN)

it("the memory runs in the page: sliders change what the model gets, its tokens, and the cost", async () => {
  const page = await opened(1_440, false)
  // Who does not come there loads no memory.
  await page.getByRole("heading", { name: "Sixty seconds" }).waitFor()
  await tried(page)
  const [tokens, cost, compactions] = [0, 1, 2].map((at) => page.locator(".try dl dt + dd").nth(at))
  const numbers = async () => ({
    tokens: numberIn(await tokens!.textContent()),
    cost: numberIn(await cost!.textContent()),
    compactions: numberIn(await compactions!.textContent()),
  })
  const before = await numbers()
  expect(before.tokens).toBeLessThan(12_500)
  expect(before.compactions).toBeGreaterThan(1)
  const got = page.getByRole("region", { name: "What the model gets" })
  const said = page.getByRole("region", { name: "What was said" })
  expect(await got.locator(".summary").count()).toBe(1)
  expect(await said.locator(".covered").count()).toBeGreaterThan(100)
  const slider = (name: RegExp) => page.getByRole("slider", { name })
  await slider(/Compact when/).fill("28000")
  await expect.poll(async () => (await numbers()).compactions).toBeLessThan(before.compactions)
  await slider(/Compact when/).fill("4000")
  await expect.poll(async () => (await numbers()).compactions).toBeGreaterThan(before.compactions)
  await slider(/^Call/).fill("3")
  await expect.poll(() => said.locator(".covered").count()).toBe(0)
  expect(await got.locator("p").count()).toBe(await said.locator("p").count())
  // By keyboard, too.
  await slider(/^Call/).press("ArrowRight")
  expect(await slider(/^Call/).inputValue()).toBe("4")
})

const looks: ReadonlyArray<readonly [width: number, isDark: boolean]> = [
  [1_440, false],
  [390, true],
  [1_440, true],
  [390, false],
]
it.each(deep ? looks : looks.slice(0, 2))(
  "axe finds nothing in it, at %i pixels, dark: %s",
  async (width, isDark) => {
    const page = await opened(width, isDark)
    await tried(page)
    await page.evaluate(`${axe.source}; undefined`)
    const found = await page.evaluate(
      "axe.run('.try').then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join()))",
    )
    expect(found).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  },
)
