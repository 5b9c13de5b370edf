/**
 * L23: every text that a person or a model said in a file is in a message, in the file's order of what happened, or is named as left out,
 * with its place.
 */
import { Either } from "effect"
import * as fc from "fast-check"
import { leftOutLine } from "../../src/transcript/leftOut.js"
import { parse, parseAll, type Transcript } from "../../src/transcript/Transcript.js"
import { type Conversation, conversations, shortText, type Turn } from "./model.js"
import { type Writer, writers } from "./writers.js"

/** Which fields are changed, and how. */
type Numbers = ReadonlyArray<readonly [place: number, kind: number, other: number]>

/** What a law says of a file that a writer has written; it throws where it is broken. */
export interface Law {
  readonly name: string
  readonly applies: (writer: Writer) => boolean
  readonly holds: (writer: Writer, conversation: Conversation, at: number, numbers: Numbers) => void
}

/** A conversation as far as files of the format can say it: where nothing marks it, what was left is left by what comes after it. */
const sayable = ({ format }: Writer, conversation: Conversation): Conversation => {
  const isLast = conversation.left?.after === conversation.turns.length - 1
  // opencode removes what was taken back when the user goes on.
  const isUnsaid = format === "opencode" ? !isLast : isLast && ["claude-code", "pi", "grok"].includes(format)
  return isUnsaid ? { ...conversation, left: undefined } : conversation
}

/** The branches among what was read. */
const branchesIn = (all: ReadonlyArray<Transcript>) => all.filter(({ branchOf }) => branchOf !== undefined)

const must = (is: boolean, what: string): void => {
  if (!is) throw new Error(what)
}

const some = <A>(value: A | undefined): ReadonlyArray<A> => (value === undefined ? [] : [value])

/** What is said in a turn, in its order, as far as the format has it. */
const saidIn = ({ has }: Writer, { user, queued, file, steps }: Turn): ReadonlyArray<string> => {
  const isRead = (name: Writer["has"][number]) => has.includes(name)
  return [
    user,
    ...(isRead("file") ? some(file) : []),
    ...steps.flatMap(({ reasoning, text, calls }, at) => [
      ...(isRead("reasoning") ? some(reasoning) : []),
      ...some(text),
      ...(isRead("calls") ? calls.flatMap(({ input, output }) => [input, output]) : []),
      ...(at === 0 && isRead("queued") ? some(queued) : []),
    ]),
  ]
}

/** All texts in a value, in their order. */
const leaves = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(leaves)
      : []

/** The texts of messages, in their order. */
const textsOf = ({ messages }: Pick<Transcript, "messages">): string =>
  messages
    .flatMap(({ parts }) => parts)
    .map((part) => {
      const { type } = part
      return type === "tool-call"
        ? `${part.name} ${Object.values(JSON.parse(part.arguments) as object).join(" ")}`
        : type === "tool-result"
          ? part.output
          : type === "text" || type === "reasoning"
            ? part.text
            : leaves(part).join(" ")
    })
    .join("\n")

/** Each text is there once, in this order. Calls of parallel steps may stand beside each other or one behind the other. */
const inOrder = (all: string, texts: ReadonlyArray<string>): void => {
  let from = 0
  for (const text of texts) {
    const at = all.indexOf(text)
    must(at >= 0, `missing: ${text}`)
    must(all.indexOf(text, at + 1) === -1, `twice: ${text}`)
    if (/(?:input|output) no/.test(text)) continue
    must(at >= from, `out of order: ${text}`)
    from = at
  }
}

/** A call stands before its result, and both within their step. */
const callsInOrder = (all: string, turns: ReadonlyArray<Turn>): void => {
  for (const { steps } of turns)
    for (const [at, { calls }] of steps.entries())
      for (const { input, output } of calls) {
        const places = [input, output, steps[at + 1]?.text ?? ""].map((text) => all.indexOf(text))
        must(places[0]! < places[1]!, `a result before its call: ${output}`)
        must(places[2]! <= 0 || places[1]! < places[2]!, `an answer before its result: ${output}`)
      }
}

const read = ({ format }: Writer, file: string): ReadonlyArray<Transcript> => {
  const all = parseAll(file, { file: "f" })
  must(Either.isRight(all), `refused: ${Either.isLeft(all) ? all.left.message : ""}`)
  const found = Either.getOrElse(all, () => [])
  // What both of the two could have written counts as Chat Completions.
  const isEither = format === "anthropic" && found[0]?.format === "openai"
  must(found[0]?.format === format || isEither, `taken for ${found[0]?.format}`)
  return found
}

/** The value at a place, such as `line 3: a.b[0]`. */
const valueAt = (file: string, first: string): unknown => {
  const [, line, path = ""] = /^(?:line (\d+): )?(.*)$/.exec(first) ?? []
  let value: unknown = JSON.parse(line === undefined ? file : file.split("\n")[Number(line) - 1]!)
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g))
    value = (value as Record<string, unknown> | undefined)?.[name ?? index!]
  return value
}

const everything = (writer: Writer, { system, turns }: Conversation): ReadonlyArray<string> => [
  ...(writer.has.includes("system") ? some(system) : []),
  ...turns.flatMap((turn) => saidIn(writer, turn)),
]

/** Every place of a value, as the object or list and the key there. */
const placesIn = (value: unknown): ReadonlyArray<readonly [at: Record<string, unknown>, key: string]> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, one]) => [
        [value as Record<string, unknown>, key] as const,
        ...placesIn(one),
      ])
    : []

/** The texts of the model in a text. */
const textsIn = (text: string): ReadonlyArray<string> => text.match(/[a-z]+ no \d+, said once/g) ?? []

/** What a field may be instead, in files of other versions or after an accident; the texts in it stay, or go with it. */
const instead: ReadonlyArray<(value: unknown, other: unknown) => unknown> = [
  () => undefined,
  () => null,
  () => "",
  () => [],
  () => ({}),
  () => 1_772_452_800,
  (value) => [value],
  (value) => ({ type: "unheard_of", deep: [{ text: value }] }),
  (value) => JSON.stringify(value),
  // A text in a field in which programs write, such as a model, is none that anybody said.
  (value, other) => (textsIn(JSON.stringify(other) ?? "").length > 0 ? value : other),
  (value) => [value, { type: "image", source: { data: "" } }, value],
]

/** The file with some of its fields changed: which, and to what, follows from the numbers. */
const changedFile = (file: string, numbers: Numbers): string => {
  const isLines = file.includes("\n")
  const rows = (isLines ? file.split("\n") : [file]).map((row) => JSON.parse(row) as unknown)
  for (const [place, kind, other] of numbers) {
    const places = placesIn(rows)
    const [at, key] = places[place % places.length]!
    const [from, name] = places[other % places.length]!
    const value = instead[kind % instead.length]!(at[key], structuredClone(from[name]))
    if (value === undefined && !Array.isArray(at)) delete at[key]
    else at[key] = value ?? null
  }
  return rows.map((row) => JSON.stringify(row)).join("\n")
}

/** All lists of objects in a value: the entries of a file, its messages, their parts. */
const listsIn = (value: unknown): ReadonlyArray<Array<unknown>> =>
  typeof value === "object" && value !== null
    ? [
        ...(Array.isArray(value) && value.length > 1 ? [value as Array<unknown>] : []),
        ...Object.values(value).flatMap(listsIn),
      ]
    : []

/** The fields of a value that name entries. */
const namesIn = (value: unknown): ReadonlyArray<readonly [at: Record<string, unknown>, key: string]> =>
  placesIn(value).filter(([at, key]) => !Array.isArray(at) && /id$|parent|current|current_node/i.test(key))

/** What may happen to the entries of a file, and to what they are called: numbers say to which. */
const accidents: ReadonlyArray<(rows: Array<unknown>, place: number, other: number) => void> = [
  ...[
    (list: Array<unknown>, at: number) => void list.splice(at, 1),
    (list: Array<unknown>, at: number, to: number) => void list.splice(to, 0, structuredClone(list[at])),
    (list: Array<unknown>, at: number, to: number) => void list.splice(to, 0, ...list.splice(at, 1)),
    (list: Array<unknown>) => void list.push(...structuredClone(list)),
    (list: Array<unknown>) => void list.splice(0, list.length, ...list.toReversed()),
  ].map((change) => (rows: Array<unknown>, place: number, other: number) => {
    const lists = listsIn(rows)
    const list = lists[place % lists.length]
    if (list === undefined) return
    change(list, other % list.length, place % list.length)
  }),
  ...[
    (_: unknown, from: unknown) => from,
    () => "nowhere",
    () => "",
    () => undefined,
    () => null,
    () => 7,
  ].map((change) => (rows: Array<unknown>, place: number, other: number) => {
    const names = namesIn(rows)
    if (names.length === 0) return
    const [at, key] = names[place % names.length]!
    const [from, name] = names[other % names.length]!
    at[key] = change(at[key], from[name])
  }),
]

/** The file after accidents: which, and where, follows from the numbers. */
const damagedFile = (file: string, numbers: Numbers): string => {
  const rows = (file.includes("\n") ? file.split("\n") : [file]).map((row) => JSON.parse(row) as unknown)
  for (const [place, kind, other] of numbers) accidents[kind % accidents.length]!(rows, place, other)
  return rows.map((row) => JSON.stringify(row)).join("\n")
}

/** Every text of a file is in a message, or is named, or the file is refused. */
const conserved = (file: string): void => {
  for (const skipDamaged of [false, true]) {
    const all = parseAll(file, { file: "f", skipDamaged })
    if (Either.isLeft(all)) {
      must(all.left.problem !== "", "refused without a reason")
      continue
    }
    const found = all.right
    const said = found
      .map((one) => JSON.stringify([one.messages, one.compactions]))
      .join("\n")
      .replaceAll(/\\+/g, "")
    const rows = file.split("\n").map((row) => JSON.parse(row) as unknown)
    const lost = leaves(rows).filter((leaf) => textsIn(leaf).some((text) => !said.includes(text)))
    const missing = [...new Set(lost)]
    const named = found.flatMap((one) => one.leftOut ?? []).reduce((sum, { times }) => sum + times, 0)
    must(
      missing.length <= named,
      `lost in ${found[0]?.format}: ${missing.join("; ")} of ${JSON.stringify(found.map((one) => one.leftOut))} in ${file}`,
    )
  }
}

/** Each value of a file on lines of its own, as `jq` writes them. */
const pretty = (file: string): string =>
  (file.includes("\n") ? file.split("\n") : [file])
    .map((row) => JSON.stringify(JSON.parse(row), null, 2))
    .join("\n")

/** Forms in which a file may come that say nothing else. */
const forms: ReadonlyArray<(file: string) => string> = [
  (file) => `\uFEFF${file}`,
  (file) => `${file}\n\n`,
  (file) => file.replaceAll("\n", "\r\n"),
  (file) => (file.includes("\n") ? file.replaceAll("\n", "\n\n") : JSON.stringify(JSON.parse(file), null, 2)),
  (file) => pretty(file).replaceAll("\n", "\r"),
  (file) => file.replaceAll("\n", "\r"),
  pretty,
  (file) => file.replaceAll("\n", ""),
]

export const laws: ReadonlyArray<Law> = [
  {
    name: "the form of a file changes nothing: marks, ends of lines, empty lines, spaces, values on several lines or one behind the other",
    applies: () => true,
    holds: (writer, conversation, at) => {
      const file = writer.write(conversation)
      const texts = (one: string) => read(writer, one).map(textsOf)
      must(
        JSON.stringify(texts(forms[at % forms.length]!(file))) === JSON.stringify(texts(file)),
        "another form of the file reads otherwise",
      )
    },
  },
  {
    name: "documents one behind the other are conversations each, with what they leave out",
    applies: ({ has }) => !has.includes("lines"),
    holds: (writer, conversation, at) => {
      const file = writer.write(conversation)
      if (file.includes("\n")) return
      const told = (all: ReadonlyArray<Transcript>, before = 0) =>
        all.map((one) => ({
          ...one,
          leftOut: [],
          branchOf: one.branchOf === undefined ? undefined : one.branchOf + before,
        }))
      const named = (all: ReadonlyArray<Transcript>) => all.flatMap(({ leftOut = [] }) => leftOut)
      const one = read(writer, file)
      const several = read(writer, [pretty(file), file].join(at % 2 === 0 ? "\n" : ""))
      must(
        JSON.stringify(told(several)) === JSON.stringify([...told(one), ...told(one, one.length)]),
        "a document behind another reads otherwise",
      )
      must(named(several).length === 2 * named(one).length, "what is left out is not named twice")
      const inside = (all: ReadonlyArray<Transcript>) =>
        named(all).filter(({ place }) => !/^conversation \d/.test(place))
      for (const { first } of inside(several)) must(/^line \d+: /.test(first), `no line: ${first}`)
    },
  },
  {
    name: "whatever a field is, a text is in a message, or is named, or the file is refused",
    applies: () => true,
    holds: (writer, conversation, _at, numbers) =>
      conserved(changedFile(writer.write(conversation), numbers)),
  },
  {
    name: "whatever becomes of entries and their ids, a text is in a message, or is named, or the file is refused",
    applies: () => true,
    holds: (writer, conversation, _at, numbers) =>
      conserved(damagedFile(writer.write(conversation), numbers)),
  },
  {
    name: "every text is in a message, once, in the order of what happened",
    applies: () => true,
    holds: (writer, conversation) => {
      const [now] = read(writer, writer.write(conversation))
      const all = textsOf(now!)
      inOrder(all, everything(writer, conversation))
      if (writer.has.includes("calls")) callsInOrder(all, conversation.turns)
    },
  },
  {
    name: "what the user went back over is a branch",
    applies: ({ has }) => has.includes("left"),
    holds: (writer, conversation) => {
      const { left, turns } = conversation
      const others = branchesIn(read(writer, writer.write(conversation)))
      must(others.length === (left === undefined ? 0 : 1), `${others.length} branches`)
      if (left === undefined) return
      must(others[0]!.branchOf === 0, "the branch is of no conversation")
      const way = [...turns.slice(0, left.after + 1), ...left.turns]
      inOrder(
        textsOf(others[0]!),
        way.flatMap((turn) => saidIn(writer, turn)),
      )
    },
  },
  {
    name: "what a sub-agent says is a conversation of its own",
    applies: ({ has }) => has.includes("beside"),
    holds: (writer, conversation) => {
      const { beside } = conversation
      const all = read(writer, writer.write(conversation))
      const [main, ...others] = all.filter(({ branchOf }) => branchOf === undefined)
      must(others.length === (beside === undefined ? 0 : 1), `${others.length} sub-agents`)
      if (beside === undefined) return
      const said = saidIn(writer, beside)
      inOrder(textsOf(others[0]!), said)
      const within = textsOf(main!)
      for (const text of said) must(!within.includes(text), `said in the conversation: ${text}`)
    },
  },
  {
    name: "a summary covers what its program left out, no more and no less",
    applies: ({ has }) => has.includes("compacted"),
    holds: (writer, conversation) => {
      const { compacted, turns } = conversation
      const [now] = read(writer, writer.write(conversation))
      const { compactions = [], messages } = now!
      must(compactions.length === compacted.length, `${compactions.length} compactions`)
      for (const [index, made] of compacted.entries()) {
        const { summary = "", after, to = after } = compactions[index]!
        must(summary.includes(made.summary), "the summary is gone")
        const keeps = writer.has.includes("keeps") ? made.keeps : 0
        const covered = textsOf({ messages: messages.slice(0, to) })
        for (const [at, turn] of turns.entries())
          for (const text of saidIn(writer, turn))
            must(covered.includes(text) === at < made.after - keeps, `turn ${at} of ${made.after}: ${text}`)
      }
    },
  },
  {
    name: "what is in no message is named, with its place",
    applies: ({ has }) => has.includes("odd"),
    holds: (writer, conversation) => {
      const file = writer.write(conversation)
      const found = read(writer, file)
      const all = found.map((one) => `${textsOf(one)}${JSON.stringify(one.messages)}`).join("\n")
      const leftOut = found.flatMap((one) => one.leftOut ?? [])
      const said = leaves(found.map(({ messages }) => messages))
      const missing = conversation.odd.filter((text) =>
        text === shortText ? !said.includes(text) : !all.includes(text),
      )
      const named = leftOut.filter(({ why }) => why === "no message has it")
      must(
        named.reduce((sum, { times }) => sum + times, 0) === missing.length,
        `${missing.length} are missing: ${leftOut.map(leftOutLine).join("; ")}`,
      )
      for (const { first } of named)
        must(missing.includes(String(valueAt(file, first))), `nothing is left out at ${first}`)
    },
  },
  {
    name: "damage is named by its line, and everything else is read",
    applies: ({ has }) => has.includes("lines"),
    holds: (writer, conversation, at) => {
      const rows = writer.write(conversation).split("\n")
      const place = at % (rows.length + 1)
      const damage = ['{"type":"user","mess', "\0\0\0\0", "{]"].slice(0, 1 + (at % 3))
      const damaged = damage.map((_, index) => place + 1 + index)
      const file = rows.toSpliced(place, 0, ...damage).join("\n")
      const refused = parse(file, { file: "f" })
      must(Either.isLeft(refused), "damage is not noticed")
      const { line } = Either.getOrThrow(Either.flip(refused))
      must(line === damaged[0], `line ${line} is named, and ${damaged[0]} is damaged`)
      const skipped = Either.getOrThrow(parse(file, { file: "f", skipDamaged: true }))
      inOrder(textsOf(skipped), everything(writer, conversation))
      for (const one of damaged) {
        const named = (skipped.leftOut ?? []).filter(({ first }) => first === `line ${one}`)
        must(named.length === 1, "damage that is skipped is not named")
      }
    },
  },
  {
    name: "of a document that was cut off, everything before is read, or named",
    applies: ({ has }) => !has.includes("lines"),
    holds: (writer, conversation, at, [[place = 0] = []]) => {
      const whole = writer.write(conversation)
      if (whole.includes("\n")) return
      const form = at % 2 === 0 ? whole : pretty(whole)
      const end = 1 + ((place * 7919) % (form.length - 2))
      const file = `${at % 3 === 0 ? `${pretty(whole)}\n` : ""}${form.slice(0, end)}`
      must(Either.isLeft(parse(file, { file: "f" })), "a cut is not noticed")
      const all = parseAll(file, { file: "f", skipDamaged: true })
      const found = Either.getOrElse(all, () => [])
      const said = JSON.stringify(found.map((one) => [one.messages, one.compactions])).replaceAll(/\\+/g, "")
      // Behind the last field that is whole, nothing is known.
      const before = /^.*[^\\]",/s.exec(file)?.[0].replaceAll("\\n", " ") ?? ""
      const fields = before.match(/"(?:[^"\\]|\\.)*"/g) ?? []
      const lost = fields.filter((field) => textsIn(field).some((text) => !said.includes(text)))
      const named = found.flatMap(({ leftOut = [] }) => leftOut).reduce((sum, { times }) => sum + times, 0)
      // A message that is not there to its head may be of any format.
      must(lost.length <= Math.max(named, 2), `lost: ${lost.join("; ")} of ${file}`)
    },
  },
]

/** Tries a law over files of a writer; `null`, or how it was broken. */
export const broken = (
  law: Law,
  writer: Writer,
  { runs, seed }: { readonly runs: number; readonly seed: number },
): { readonly runs: number; readonly why: string } | null => {
  const numbers = fc.array(fc.tuple(fc.nat(1_000), fc.nat(50), fc.nat(1_000)), { minLength: 1, maxLength: 3 })
  const property = fc.property(conversations, fc.nat(50), numbers, (conversation, at, changes) =>
    law.holds(writer, sayable(writer, conversation), at, changes),
  )
  const { failed, numRuns, errorInstance, counterexample } = fc.check(property, { numRuns: runs, seed })
  const [conversation] = counterexample ?? []
  return failed
    ? {
        runs: numRuns,
        why: `${String(errorInstance)}\n${conversation === undefined ? "" : writer.write(sayable(writer, conversation))}`,
      }
    : null
}

export { writers }
