import { Message } from "@memfold/core"
import { describe, expect, it } from "vitest"
import { digest } from "./digest.js"
import { documents } from "./documents.js"
import { plan } from "./plans.js"
import { turns } from "./rounds.js"

const { user, assistant, system, call, result } = Message

const turn = (...messages: ReadonlyArray<Message.Message>) => ({
  from: 4,
  to: 4 + messages.length,
  messages,
})

describe("rounds", () => {
  const ranges = (messages: ReadonlyArray<Message.Message>, from = 0) =>
    turns(messages, from).map((one) => [one.from, one.to])

  it("begin with the user's messages", () => {
    expect(ranges([user("a"), assistant("b"), user("c"), user("d"), assistant("e")], 10)).toEqual([
      [10, 12],
      [12, 15],
    ])
  })

  it("leave out a preamble, and take the rest of a round that began before", () => {
    expect(ranges([system("rules"), user("a"), assistant("b")])).toEqual([[1, 3]])
    expect(ranges([assistant("more"), user("a"), assistant("b")], 2)).toEqual([
      [2, 3],
      [3, 5],
    ])
    expect(ranges([])).toEqual([])
  })
})

describe("digest", () => {
  const of = (...messages: ReadonlyArray<Message.Message>) => digest(turn(...messages))?.text ?? null

  it("says what was asked, and what came of it in the end", () => {
    const asked = user("How do I deploy the parser to staging?")
    expect(
      of(
        asked,
        call([{ id: "1", name: "bash", arguments: "{}" }]),
        result({ id: "1", output: "x" }),
        assistant("Run npm run deploy."),
      ),
    ).toBe("How do I deploy the parser to staging? → Run npm run deploy.")
    expect(of(user("怎么把解析器部署到测试环境？"), assistant("运行部署脚本，然后检查日志。"))).toBe(
      "怎么把解析器部署到测试环境？ → 运行部署脚本，然后检查日志。",
    )
    expect(digest(turn(asked, assistant("Run it."), assistant("")))).toEqual({
      layer: "scope",
      kind: "digest",
      key: "turn:How do I deploy the parser to staging? → Run it.",
      text: "How do I deploy the parser to staging? → Run it.",
      quote: ["How do I deploy the parser to staging?", "Run it."],
      from: 4,
      to: 7,
    })
  })

  it("is short, and has no code", () => {
    const long = of(
      user(`Explain this. ${"Many more words follow here. ".repeat(500)}`),
      assistant("word ".repeat(9_000)),
    )
    expect(long?.length).toBeLessThanOrEqual(160 + 240 + 3)
    expect(
      of(
        user("Why does this fail here?\n```\nsecretFunction()\n```"),
        assistant("A semicolon is missing there."),
      ),
    ).toBe("Why does this fail here? → A semicolon is missing there.")
  })

  it("names a file that was sent without a word", () => {
    const sent: Message.Message = {
      role: "user",
      parts: [
        { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA", name: "floor plan.png" },
      ],
    }
    expect(of(sent, assistant("The plan shows three rooms and a kitchen."))).toBe(
      "[floor plan.png] → The plan shows three rooms and a kitchen.",
    )
  })

  it("is there for a round with a short answer that says something", () => {
    expect(of(user("go on"), assistant("- [ ] write tests"))).toBe("go on → write tests")
    expect(of(user("And now?"), assistant("Deploy it to staging."))).toBe("And now? → Deploy it to staging.")
    expect(of(user("继续"), assistant("- [ ] 编写测试"))).toBe("继续 → 编写测试")
  })

  it("is none of a round that says nothing, or what should not be repeated", () => {
    expect(of(user("Thanks!"), assistant("You're welcome!"))).toBeNull()
    expect(of(user("好的，谢谢"), assistant("不客气"))).toBeNull()
    expect(of(user("Hello, good morning!"), assistant("Hi! How can I help you today?"))).toBeNull()
    expect(
      of(user("Perfect, thank you so much."), assistant("Glad I could help! Have a great day.")),
    ).toBeNull()
    expect(of({ role: "user", parts: [] }, { role: "assistant", parts: [] })).toBeNull()
    expect(
      of(
        user("My password is hunter2, why does the login fail?"),
        assistant("Change it in the settings page."),
      ),
    ).toBeNull()
    expect(of(assistant("The rest of a round that was digested before"))).toBeNull()
  })
})

describe("plan", () => {
  const of = (...messages: ReadonlyArray<Message.Message>) => plan("s", turn(...messages))?.text ?? null

  it.each([
    [
      "Done.\n\n## Next steps\n\n1. Deploy to staging\n2. **Check** the logs\n",
      "Plan: Deploy to staging; Check the logs",
    ],
    ["All good. The next step is to deploy.", "Plan: The next step is to deploy"],
    [
      "Here is what I did:\n- a\n- b\n\nNext steps:\n- deploy it\n- check it\n\nThat is all.",
      "Plan: deploy it; check it",
    ],
    ["- [x] done already\n- [ ] write tests\n- [ ] deploy", "Plan: write tests; deploy"],
    ["TODO: write tests", "Plan: write tests"],
    [
      "Next steps are to call the bank and to move on.",
      "Plan: Next steps are to call the bank and to move on",
    ],
    ["Done. Your next steps are to call `deploy()`.", "Plan: Your next steps are to call `deploy()`"],
    ["It works; the next steps are to call the bank.", "Plan: the next steps are to call the bank"],
    ["The next steps will be to write tests.", "Plan: The next steps will be to write tests"],
    ["完成了。\n\n下一步：\n- 部署到测试环境\n- 检查日志", "Plan: 部署到测试环境; 检查日志"],
    ["下一步计划：部署到测试环境", "Plan: 部署到测试环境"],
    ["I fixed the parser. Next steps: run the tests, then deploy.", "Plan: run the tests, then deploy"],
    ["It works now; next steps are: run the tests.", "Plan: run the tests"],
    ["- All good. Next steps:\n- run the tests\n- deploy", "Plan: run the tests; deploy"],
    ["修好了解析器。下一步：运行测试，然后部署。", "Plan: 运行测试，然后部署"],
    [
      "All good. We'll first call Bob, then move the database.",
      "Plan: We'll first call Bob, then move the database",
    ],
    ["I’ll start by writing tests.", "Plan: I’ll start by writing tests"],
    ["We will call Bob and then deploy.", "Plan: We will call Bob and then deploy"],
    [
      "It works. First, we’re going to back it up. After that we'll deploy.",
      "Plan: First, we’re going to back it up; After that we'll deploy",
    ],
    ["Next, I'll look at the logs.", "Plan: Next, I'll look at the logs"],
    ["Next steps are to call Bob.", "Plan: Next steps are to call Bob"],
    ["We still need to write the tests.", "Plan: We still need to write the tests"],
    ["好了。我们先联系银行，然后部署。", "Plan: 我们先联系银行，然后部署"],
    ["我們會先備份資料，再部署。", "Plan: 我們會先備份資料，再部署"],
    ["首先备份数据，之后部署到测试环境。", "Plan: 首先备份数据，之后部署到测试环境"],
    ["我们还需要写测试。", "Plan: 我们还需要写测试"],
  ])("%j", (text, expected) => {
    expect(of(user("go on"), assistant(text))).toBe(expected)
  })

  it.each([
    "The next step will be to call Bob",
    "The next thing to do is to call Bob",
    "The plan for tomorrow is to call Bob",
    "As a next step, I'll call Bob",
    "Let's first fix the build and then deploy",
    "Let’s start by fixing the build",
    "We should first call Bob, then email Ann",
    "We need to call Bob first and then deploy",
    "I have to call Bob, then email Ann",
    "I want to call Bob first, then email Ann",
    "Tomorrow I'll call Bob and then deploy",
    "Once the tests pass, we'll deploy to staging",
    "After the review, we're going to deploy",
    "Then we'll deploy to production",
    "What remains is to deploy the service",
    "What's left to do is to deploy the service",
    "All that is left is to deploy the service",
    "It remains to deploy the service",
    "Next up is the deployment of the service",
    "We plan on deploying on Friday",
    "We intend to deploy on Friday",
    "接下来我会先修复构建，然后部署",
    "接下來我們要部署到測試環境",
    "之后我会部署到测试环境",
    "然后我们再部署到生产环境",
    "明天我会给鲍勃打电话，然后发邮件",
    "计划是先打电话，再发邮件",
    "我们的计划是周五部署",
    "剩下的工作是部署服务",
    "还剩下部署服务没做",
  ])("in a sentence: %j", (text) => {
    expect(of(user("go on"), assistant(`All good. ${text}.`))).toBe(`Plan: ${text}`)
  })

  it("is also what a user plans", () => {
    expect(of(user("I plan to move the database on Friday."), assistant("Good."))).toBe(
      "Plan: I plan to move the database on Friday",
    )
    expect(of(user("我打算下周迁移数据库。"), assistant("好。"))).toBe("Plan: 我打算下周迁移数据库")
  })

  it("is none where nothing is planned", () => {
    for (const text of [
      "Do you plan to deploy?",
      "What are the next steps?",
      "What are the next steps to take?",
      "Next steps are unclear.",
      "The next steps were to call the bank.",
      "The plan was good.",
      "I followed it. The plan: to deploy on Monday, was good.",
      "It says so in the section Next steps: none were taken",
      "Next, look at line 3.",
      "First, I'll need your order number.",
      "We won't first call Bob, then deploy.",
      "If it fails, we'll first call Bob, then deploy.",
      "We'll be late, and then they were gone.",
      "Then I will never come back.",
      "Then I'll be in Rome.",
      "Then you'll call Bob.",
      "I have to say that it broke and then worked.",
      "I want to know what came first, and then why.",
      "It remains to be seen.",
      "The next step was to call Bob.",
      "You could first run the tests, then deploy.",
      "Once the tests had passed, we deployed.",
      "What was left is gone.",
      "之后我部署了服务。",
      "然后我们就到了罗马。",
      "明天我会来。",
      "我们的计划是什么？",
      "First, the tests ran. Then they failed.",
      "We first called Bob, then moved it.",
      "Next, we looked at the logs.",
      "我先检查了日志，然后重启了服务。",
      "如果失败，我们先联系银行，然后部署。",
      "他还需要时间。",
      "```\n// TODO: write tests\n```",
      "- [x] done",
      "> Next steps: deploy",
    ]) {
      expect(of(user(text), assistant("Fine."))).toBeNull()
    }
    expect(of(user("Summarize:\n## Next steps\n- buy milk"), assistant("Milk is to be bought."))).toBeNull()
  })

  it("is the last word: what an assistant meant to do on the way is done", () => {
    expect(
      of(
        user("go"),
        call([{ id: "1", name: "bash", arguments: "{}" }], { text: "Next steps:\n- look around" }),
        result({ id: "1", output: "x" }),
        assistant("Done."),
      ),
    ).toBeNull()
  })

  it("is one for each session, of a few steps", () => {
    const many = Array.from({ length: 40 }, (_, at) => `- [ ] step ${at} ${"word ".repeat(100)}`).join("\n")
    const found = plan("s", turn(user("go"), assistant(many)))
    expect(found?.key).toBe("plan:s")
    expect(found?.text?.split("; ")).toHaveLength(6)
    expect(found?.text?.length).toBeLessThan(1_000)
  })
})

describe("documents", () => {
  const of = (messages: ReadonlyArray<Message.Message>, known: ReadonlyArray<string> = []) =>
    documents(turn(...messages), new Set(known)).map(({ text }) => text)

  const read = (id: string, path: string, more: object = {}) =>
    call([{ id, name: "Read", arguments: JSON.stringify({ file_path: path, ...more }) }])

  const attached = (
    uri: string,
    options: { readonly name?: string; readonly mediaType?: string } = {},
  ): Message.Message => ({
    role: "user",
    parts: [{ type: "file", mediaType: "text/plain", uri, ...options }],
  })

  it("are files that tools read, with their first words", () => {
    expect(
      of([
        user("look"),
        read("1", "docs/plan.md"),
        result({ id: "1", output: "     1→# The plan\n     2→\n     3→We move on Friday." }),
        read("2", "src/main.ts"),
        result({ id: "2", output: 'import { a } from "b"\n\n/** Starts the server. */\n' }),
        assistant("ok"),
      ]),
    ).toEqual(["docs/plan.md: The plan We move on Friday.", "src/main.ts: Starts the server. */"])
  })

  it("pair by position where ids are used again, and count only what was read", () => {
    expect(
      of([
        user("look"),
        read("1", "a.md"),
        result({ id: "1", output: "first" }),
        read("1", "b.md"),
        result({ id: "1", output: "second" }),
        read("1", "missing.md"),
        result({ id: "1", output: "no such file", isError: true }),
        read("2", "never answered.md"),
        user("go on"),
        // The id of a call that was never answered, used again.
        call([{ id: "2", name: "bash", arguments: '{"command":"ls"}' }]),
        result({ id: "2", output: "a list" }),
        call([{ id: "3", name: "write", arguments: '{"path":"c.md"}' }]),
        result({ id: "3", output: "written" }),
        assistant("ok"),
      ]),
    ).toEqual(["a.md: first", "b.md: second"])
  })

  it("keep their first words when a piece of them is read", () => {
    const piece = [read("2", "a.md", { offset: 200 }), result({ id: "2", output: "in the middle" })]
    expect(of([user("x"), read("1", "a.md"), result({ id: "1", output: "first" }), ...piece])).toEqual([
      "a.md: first",
    ])
    expect(of([user("x"), ...piece])).toEqual(["a.md"])
    expect(of([user("x"), ...piece], ["document:a.md"])).toEqual([])
  })

  it("are files that were attached, with first words where they came along", () => {
    const text = "Größe: 漢字 und mehr. ".repeat(400)
    const base64 = Buffer.from(text).toString("base64")
    expect(of([attached(`data:text/plain;base64,${base64}`, { name: "größe.txt" })])[0]).toMatch(
      /^größe\.txt: Größe: 漢字 und mehr\. .*[^\ufffd]$/u,
    )
    expect(of([attached(`data:text/plain,${encodeURIComponent(text)}`, { name: "b.txt" })])[0]).toMatch(
      /^b\.txt: Größe: 漢字/,
    )
    expect(of([attached("https://example.org/c.pdf", { mediaType: "application/pdf" })])).toEqual([
      "https://example.org/c.pdf",
    ])
    expect(
      of([attached("data:application/pdf;base64,AAAA", { name: "d.pdf", mediaType: "application/pdf" })]),
    ).toEqual(["d.pdf"])
    expect(of([attached("data:text/plain;base64,@@@@", { name: "e.txt" })])).toEqual(["e.txt"])
    expect(of([attached("data:text/plain,%E0%A4%A", { name: "f.txt" })])).toEqual(["f.txt"])
    expect(of([attached("data:text/plain,no name")])).toEqual([])
    expect(of([attached("photo.png", { mediaType: "image/png" })])).toEqual([])
  })

  it("do not mind arguments that are no JSON, or no path", () => {
    for (const text of [
      "",
      "{",
      "[]",
      "null",
      '"a"',
      '{"path":7}',
      '{"path":" "}',
      '{"__proto__":{"path":"x"}}',
    ]) {
      expect(
        of([user("x"), call([{ id: "1", name: "read", arguments: text }]), result({ id: "1", output: "y" })]),
      ).toEqual([])
    }
  })

  it("repeat no secret, and are not too many", () => {
    expect(of([user("x"), read("1", ".env"), result({ id: "1", output: "API_KEY=abc" })])).toEqual([".env"])
    const many = Array.from({ length: 30 }, (_, at) => [
      read(String(at), `${at}.md`),
      result({ id: String(at), output: "x" }),
    ]).flat()
    expect(of([user("x"), ...many])).toHaveLength(10)
    expect(of([user("x"), ...many]).at(-1)).toBe("29.md: x")
  })
})
