import { Guard, Message } from "@memfold/core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { guard, recommendedRules } from "../src/index.js"
import { planted } from "@memfold/harness/planted"

const about = { session: "s" }
const stored = (message: Message.Message, options?: Parameters<typeof guard>[0]) =>
  Effect.runPromise(Guard.guardedBy(guard(options), [message], about)).then(([one]) => one!)

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)
const isIn = (message: Message.Message, secret: string): boolean => {
  const text = JSON.stringify(message)
  return [secret, escaped(secret), escaped(escaped(secret)), escaped(escaped(escaped(secret)))].some((one) =>
    text.includes(one),
  )
}

/** Messages with a text in each kind of part. */
const messagesWith = (text: string): ReadonlyArray<Message.Message> => [
  Message.user(text),
  Message.user("Hello", { name: text }),
  Message.user("Hello", { metadata: { note: { deep: [text] } } }),
  Message.call([
    { id: "c1", name: "run", arguments: JSON.stringify({ command: `export X="1"\n${text}\n` }) },
  ]),
  Message.call([{ id: "c1", name: "run", arguments: JSON.stringify({ inner: JSON.stringify({ text }) }) }]),
  Message.call([{ id: "c1", name: "run", arguments: `not JSON: ${text}` }]),
  Message.result({ id: "c1", output: text }),
  Message.result({ id: "c1", output: JSON.stringify({ env: { text } }, null, 2) }),
  Message.result({
    id: "c1",
    output: text,
    content: [
      { type: "text", text },
      { type: "opaque", provider: "anthropic", data: { type: "document", title: text } },
    ],
  }),
  { role: "assistant", parts: [{ type: "reasoning", text }] },
  {
    role: "assistant",
    parts: [{ type: "text", text: "Hello", providerData: { openai: { refusal: text } } }],
  },
  {
    role: "user",
    parts: [
      {
        type: "file",
        mediaType: "text/plain",
        uri: `data:text/plain;base64,${Buffer.from(text).toString("base64")}`,
      },
    ],
  },
  {
    role: "user",
    parts: [
      {
        type: "file",
        mediaType: "text/plain",
        uri: `data:text/plain,${encodeURIComponent(text)}`,
        name: text,
      },
    ],
  },
  {
    role: "assistant",
    parts: [
      {
        type: "opaque",
        provider: "openai-responses",
        data: { type: "mcp_call", output: text, arguments: JSON.stringify({ text }) },
      },
    ],
  },
]

const lines = (text: string, write: (line: string, at: number) => string): string =>
  text.split("\n").map(write).join("\n")

/** How tools write a text, and how it is read again. */
const writings: ReadonlyArray<
  readonly [name: string, write: (text: string) => string, read: (text: string) => string]
> = [
  ["JSON in a sentence", (text) => `It is ${JSON.stringify({ text })}.`, (text) => text],
  [
    "JSON in JSON in lines",
    (text) => `{"n":1}\n${JSON.stringify({ inner: JSON.stringify({ text }) })}\n`,
    (text) => text,
  ],
  [
    "numbered lines",
    (text) => lines(text, (line, at) => `${String(at + 1).padStart(6)}\t${line}`),
    (text) => text.replaceAll(/^ *\d+\t/gm, ""),
  ],
  [
    "numbered lines with arrows",
    (text) => lines(text, (line, at) => `${at + 98}→${line}`),
    (text) => text.replaceAll(/^\d+→/gm, ""),
  ],
  ["an added file", (text) => lines(text, (line) => `+${line}`), (text) => text.replaceAll(/^\+/gm, "")],
  ["a removed file", (text) => lines(text, (line) => `-${line}`), (text) => text.replaceAll(/^-/gm, "")],
  ["a quoted mail", (text) => lines(text, (line) => `> ${line}`), (text) => text.replaceAll(/^> /gm, "")],
  [
    "base64",
    (text) => `data:\n  token: ${Buffer.from(text).toString("base64")}\n`,
    (text) => Buffer.from(/token: (.*)/.exec(text)![1]!, "base64").toString(),
  ],
  [
    "base64 for addresses",
    (text) => `/v1/x?state=${Buffer.from(`{"then":"/"} ${text}`).toString("base64url")}&n=1`,
    (text) => Buffer.from(/state=([^&]*)/.exec(text)![1]!, "base64url").toString(),
  ],
  [
    "an address",
    (text) => `https://example.com/?n=1&q=${encodeURIComponent(text)}&m=2`,
    (text) => text.replaceAll(/(?:%[0-9A-F]{2})+/g, decodeURIComponent),
  ],
]

describe("planted secrets", () => {
  it.each(planted(4).map((one) => [one.name, one] as const))(
    "%s, as tools write it",
    async (_, { text, secret, kind }) => {
      for (const [name, write, read] of writings)
        for (const make of [Message.user, (output: string) => Message.result({ id: "c1", output })]) {
          const { message, guarded } = await stored(make(write(text)))
          const left = read(Message.text(message))
          const isLeft = [secret, escaped(secret), escaped(escaped(secret))].some((one) => left.includes(one))
          expect({ name, isLeft, kinds: Object.keys(guarded ?? {}) }).toEqual({
            name,
            isLeft: false,
            kinds: expect.arrayContaining([kind]),
          })
          expect(await stored(message)).toEqual({ message })
        }
    },
  )

  it("in texts that are divided into blocks", async () => {
    for (const { name, text, secret } of planted(40))
      for (const third of [1, 2]) {
        const begin = text.indexOf(secret)
        const cut = begin + Math.floor((secret.length * third) / 3)
        const texts = [text.slice(0, begin), text.slice(begin, cut), text.slice(cut)]
        const parts = ["Look: ", ...texts].map((one) => ({ type: "text" as const, text: one }))
        const { message } = await stored({ role: "assistant", parts })
        const left = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
        expect({ name, third, left: left.includes(secret) }).toEqual({ name, third, left: false })
        // What a reader puts together again is a secret no more: of a key in lines, the first lines are enough.
        expect({ name, third, half: left.includes(secret.slice(0, cut - begin)) }).toEqual({
          name,
          third,
          half: false,
        })
        expect(await stored(message)).toEqual({ message })
      }
  })

  it("a private key whose end is cut off", async () => {
    for (const { text, secret } of planted(5).filter(({ kind }) => kind === "privatekey"))
      for (const write of [
        (cut: string) => cut,
        (cut: string) => lines(cut, (line, at) => `${at + 1}\t${line}`),
        (cut: string) => JSON.stringify({ cut }),
        (cut: string) => `${cut}\n[output truncated]`,
      ]) {
        const { message } = await stored(Message.user(write(text.slice(0, -150))))
        for (const line of secret.split("\n").slice(1, -4)) expect(Message.text(message)).not.toContain(line)
      }
    const asked =
      "What is the header -----BEGIN RSA PRIVATE KEY----- for, and which programs do write files like that?"
    expect(await stored(Message.user(asked))).toEqual({ message: Message.user(asked) })
  })

  it.each(planted(1).map((one) => [one.name, one] as const))("%s", async (_, { text, secret, kind }) => {
    for (const message of messagesWith(text)) {
      const { message: left, guarded } = await stored(message)
      expect({ message, isIn: isIn(left, secret) }).toEqual({ message, isIn: false })
      expect(Object.keys(guarded ?? {})).toContain(kind)
      const [call] = Message.calls(left)
      if (call?.arguments.startsWith("{")) expect(() => JSON.parse(call.arguments)).not.toThrow()
      // What was redacted is not found again.
      expect(await stored(left)).toEqual({ message: left })
    }
  })
})

describe("guard", () => {
  it("leaves what is no secret byte for byte as it is", async () => {
    for (const text of [
      "It took 1764336000123 ms, score 0.4111111111111111, commit 4929aeb1f3c27a5a8a1f6e4e2f4b4a5d6c7e8f90",
      '{"at":4012888888881881,"ids":[4012888888881881,5105105105105100]}',
      '{"id": "5105105105105100", "at": 4012888888881881, "order_id":"4111111111111111"}',
      "4539578763621486.log /tmp/4539578763621486 #4539578763621486 v1.2.3 :4710 123e4567-e89b-12d3-a456-426614174000",
      "1234 4111 1111 1111 1111 5678",
      "_authToken=${NPM_TOKEN} postgres://user:password@host/db https://user:pass@example.com AKIAIOSFODNN7EXAMPLE",
      "write to ann@example.org or +43 1 234 56 78",
      "[redacted: aws] [redacted]",
    ])
      for (const message of messagesWith(text)) expect(await stored(message)).toEqual({ message })
  })

  it("finds e-mail addresses and telephone numbers on demand, and what a function finds", async () => {
    const { message, guarded } = await stored(
      Message.user("Ann, ann@example.org, +43 1 234 56 78, git@github.com:a/b"),
      {
        kinds: ["emails", "phones"],
        find: (text) =>
          [...text.matchAll(/Ann/g)].map(({ index }) => ({ from: index, to: index + 3, kind: "name" })),
      },
    )
    expect(Message.text(message)).toBe(
      "[redacted: name], [redacted: email], [redacted: phone], git@github.com:a/b",
    )
    expect(guarded).toEqual({ email: 1, name: 1, phone: 1 })
  })

  it("makes a string of a number in JSON, and counts what is the same once", async () => {
    const card = planted(2).find(({ name }) => name === "card in one piece")!.secret
    for (const name of ['"card_number":', '"ccNumber" : ', '"creditCard":"'])
      expect((await stored(Message.user(`{${name}${card}`))).guarded).toEqual({ card: 1 })
    const given = `{ "card": ${card},\n  "again": "${card}" }`
    const { message, guarded } = await stored(Message.call([{ id: "c1", name: "pay", arguments: given }]))
    expect(Message.calls(message)[0]!.arguments).toBe(
      '{ "card": "[redacted: card]",\n  "again": "[redacted: card]" }',
    )
    expect(guarded).toEqual({ card: 1 })
  })

  it("leaves signed reasoning out, and the other form of a text", async () => {
    const { text } = planted(3)[3]!
    const { message } = await stored({
      role: "assistant",
      parts: [
        { type: "reasoning", text, signature: "EqQB" },
        { type: "reasoning", text: "It rains.", signature: "EqQB" },
        { type: "text", text },
        { type: "opaque", provider: "acme", data: { block: "8f2c" }, replaces: "text-before" },
        {
          type: "opaque",
          provider: "anthropic",
          data: { type: "redacted_thinking", data: "EmwK" },
          bound: true,
        },
      ],
    })
    expect(message.parts).toEqual([
      { type: "reasoning", text: "It rains.", signature: "EqQB" },
      { type: "text", text: "use [redacted: github]" },
      {
        type: "opaque",
        provider: "anthropic",
        data: { type: "redacted_thinking", data: "EmwK" },
        bound: true,
      },
    ])
    expect(
      (await stored({ role: "assistant", parts: [{ type: "reasoning", text, signature: "EqQB" }] })).message
        .parts,
    ).toEqual([{ type: "text", text: "[redacted: github]" }])
  })

  it("refuses with the kind and the place, and never with the text", async () => {
    const { text, secret } = planted(4)[0]!
    const refused = await Effect.runPromise(
      Effect.flip(
        Guard.guardedBy(guard({ found: "refuse" }), [Message.user("Hello"), Message.user(text)], about),
      ),
    )
    expect(refused).toMatchObject({ session: "s", kind: "aws", place: "message 1, parts.0.text" })
    expect(`${refused.message}${JSON.stringify(refused)}`).not.toContain(secret)
  })

  it("takes other rules, and no comment switches them off", async () => {
    const { text, secret } = planted(5)[3]!
    const message = Message.user(`secretlint-disable\n${text} // secretlint-disable-line`)
    expect(isIn((await stored(message)).message, secret)).toBe(false)
    const rules = recommendedRules.filter(({ rule }) => rule.meta.id.endsWith("-aws"))
    expect((await stored(message, { rules })).guarded).toBeUndefined()
    expect(() => guard({ kinds: ["card" as never] })).toThrow("secrets, cards, ibans, emails, phones")
    for (const wrong of [
      { found: "refues" },
      { find: 5 },
      { kinds: "cards" },
      { rules: {} },
      { fond: 5 },
      5,
      null,
    ])
      expect(() => guard(wrong as never)).toThrow(/^(?:The option|There is no option)/)
  })
})
