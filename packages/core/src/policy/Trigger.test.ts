import { describe, expect, it } from "vitest"
import { chat } from "@memfold/testing/arbitrary"
import { stateOf } from "@memfold/testing"
import { Message, Trigger } from "../index.js"
import { make } from "./PolicyInput.js"

/** A chat of messages of ten tokens each, covered up to `coveredTo` by a summary of seven tokens, with the tail from `tailFrom`. */
const view = ({
  total = 20,
  coveredTo = 0,
  tailFrom = total,
  now = 0,
}: {
  readonly total?: number
  readonly coveredTo?: number
  readonly tailFrom?: number
  readonly now?: number
}): Trigger.TriggerInput => {
  const messages = chat(total).map((message, index) => ({ ...message, time: index * 1_000 }))
  return {
    ...make({ ...stateOf(messages, coveredTo), lastCompactionTime: coveredTo === 0 ? null : 50_000 }, now),
    tailFrom,
  }
}

const minutes = (count: number) => count * 60_000

describe("backlog", () => {
  it("is due when a number of messages lie before the tail", () => {
    const trigger = Trigger.backlog({ messages: 12 })
    expect(trigger.due(view({ tailFrom: 11 }))).toBeNull()
    expect(trigger.due(view({ tailFrom: 12 }))).toBe("backlog")
    expect(trigger.due(view({ tailFrom: 15, coveredTo: 4 }))).toBeNull()
    expect(trigger.due(view({ tailFrom: 16, coveredTo: 4 }))).toBe("backlog")
  })

  it("is due when these messages take a number of tokens", () => {
    const trigger = Trigger.backlog({ tokens: 50 })
    expect(trigger.due(view({ tailFrom: 8, coveredTo: 4 }))).toBeNull()
    expect(trigger.due(view({ tailFrom: 9, coveredTo: 4 }))).toBe("backlog")
    expect(Trigger.backlog({ tokens: 51 }).due(view({ tailFrom: 9, coveredTo: 4 }))).toBeNull()
  })

  it("is due when a number of complete rounds lie before the tail", () => {
    const trigger = Trigger.backlog({ turns: 2 })
    expect(trigger.due(view({ tailFrom: 3 }))).toBeNull()
    expect(trigger.due(view({ tailFrom: 4 }))).toBe("backlog")
    expect(trigger.due(view({ tailFrom: 7, coveredTo: 4 }))).toBeNull()
    expect(trigger.due(view({ tailFrom: 8, coveredTo: 4 }))).toBe("backlog")
  })

  it("is due when any one of several amounts is reached, and never by none", () => {
    const trigger = Trigger.backlog({ messages: 100, tokens: 30 }, "enough")
    expect(trigger.due(view({ tailFrom: 2 }))).toBeNull()
    expect(trigger.due(view({ tailFrom: 3 }))).toBe("enough")
    expect(Trigger.backlog({}).due(view({}))).toBeNull()
  })
})

describe("uncovered", () => {
  it("counts the tail in", () => {
    expect(Trigger.uncovered({ messages: 20 }).due(view({ tailFrom: 0 }))).toBe("uncovered")
    expect(Trigger.uncovered({ messages: 21 }).due(view({ tailFrom: 0 }))).toBeNull()
    expect(Trigger.uncovered({ messages: 17 }).due(view({ coveredTo: 4 }))).toBeNull()
    expect(Trigger.uncovered({ messages: 16 }, "full").due(view({ coveredTo: 4 }))).toBe("full")
  })

  it("counts tokens and complete rounds", () => {
    expect(Trigger.uncovered({ tokens: 200 }).due(view({}))).toBe("uncovered")
    expect(Trigger.uncovered({ tokens: 201 }).due(view({}))).toBeNull()
    expect(Trigger.uncovered({ turns: 10 }).due(view({}))).toBe("uncovered")
    expect(Trigger.uncovered({ turns: 10 }).due(view({ total: 21 }))).toBe("uncovered")
    expect(Trigger.uncovered({ turns: 11 }).due(view({ total: 21 }))).toBeNull()
    expect(Trigger.uncovered({ turns: 11 }).due(view({ total: 22 }))).toBe("uncovered")
  })
})

describe("contextAbove", () => {
  it("is due above a number of tokens, summary included", () => {
    expect(Trigger.contextAbove(199).due(view({}))).toBe("context")
    expect(Trigger.contextAbove(200).due(view({}))).toBeNull()
    expect(Trigger.contextAbove(166).due(view({ coveredTo: 4 }))).toBe("context")
    expect(Trigger.contextAbove(167).due(view({ coveredTo: 4 }))).toBeNull()
  })

  it("believes the size that a provider reported", () => {
    const messages = [Message.user("q"), Message.assistant("a", { usage: { input: 5_000, output: 9 } })]
    const due = (tokens: number) =>
      Trigger.contextAbove(tokens).due({ ...make(stateOf([...messages, Message.user("q")]), 0), tailFrom: 0 })
    expect([due(5_018), due(5_019)]).toEqual(["context", null])
  })
})

describe("cooldown", () => {
  const trigger = Trigger.cooldown("15 minutes")

  it("counts from the last compaction", () => {
    expect(trigger.due(view({ coveredTo: 4, now: 50_000 + minutes(15) - 1 }))).toBeNull()
    expect(trigger.due(view({ coveredTo: 4, now: 50_000 + minutes(15) }))).toBe("cooldown")
  })

  it("counts from the first message before there was one", () => {
    expect(trigger.due(view({ now: minutes(15) - 1 }))).toBeNull()
    expect(trigger.due(view({ now: minutes(15) }))).toBe("cooldown")
  })

  it("is not due with nothing before the tail", () => {
    expect(trigger.due(view({ coveredTo: 4, tailFrom: 4, now: minutes(900) }))).toBeNull()
    expect(trigger.due(view({ coveredTo: 4, tailFrom: 5, now: minutes(900) }))).toBe("cooldown")
  })
})

describe("idle", () => {
  const trigger = Trigger.idle("5 minutes")

  it("counts from the last message", () => {
    expect(trigger.due(view({ now: 19_000 + minutes(5) - 1 }))).toBeNull()
    expect(trigger.due(view({ now: 19_000 + minutes(5) }))).toBe("idle")
  })

  it("is not due with nothing before the tail", () => {
    expect(trigger.due(view({ tailFrom: 0, now: minutes(900) }))).toBeNull()
  })
})

describe("callsAnswered", () => {
  const due = (...messages: ReadonlyArray<Message.Message>) =>
    Trigger.callsAnswered.due({ ...make(stateOf(messages), 0), tailFrom: 0 })
  const calls = Message.call(["1", "2"].map((id) => ({ id, name: "t", arguments: "{}" })))
  const answer = (id: string) => Message.result({ id, output: "x" })

  it("is due while no call waits for its result", () => {
    expect(due()).toBe("calls-answered")
    expect(due(Message.user("q"), calls)).toBeNull()
    expect(due(Message.user("q"), calls, answer("1"))).toBeNull()
    expect(due(Message.user("q"), calls, answer("1"), answer("2"))).toBe("calls-answered")
  })

  it("is due when the user has given a call up", () => {
    expect(due(Message.user("q"), calls, answer("1"), Message.user("stop"))).toBe("calls-answered")
  })

  it("keeps another trigger from going off within a group", () => {
    const both = Trigger.all(Trigger.uncovered({ messages: 1 }), Trigger.callsAnswered)
    const ask = (...messages: ReadonlyArray<Message.Message>) =>
      both.due({ ...make(stateOf(messages), 0), tailFrom: 0 })
    expect(ask(Message.user("q"), calls)).toBeNull()
    expect(ask(Message.user("q"), calls, answer("1"), answer("2"))).toBe("uncovered+calls-answered")
  })
})

describe("of several triggers", () => {
  const yes = (reason: string): Trigger.Trigger => ({ due: () => reason })

  it("any is due with the first that is", () => {
    expect(Trigger.any(Trigger.never, yes("a"), yes("b")).due(view({}))).toBe("a")
    expect(Trigger.any(Trigger.never, Trigger.never).due(view({}))).toBeNull()
    expect(Trigger.any().due(view({}))).toBeNull()
  })

  it("all are due together or not at all", () => {
    expect(Trigger.all(yes("a"), yes("b")).due(view({}))).toBe("a+b")
    expect(Trigger.all(yes("a"), Trigger.never).due(view({}))).toBeNull()
    expect(Trigger.all().due(view({}))).toBeNull()
  })

  it("never is not", () => {
    expect(Trigger.never.due(view({ now: minutes(900) }))).toBeNull()
  })
})

describe("the time from which a trigger is due", () => {
  const cooldown = Trigger.cooldown("5 minutes")
  const idle = Trigger.idle("5 minutes")
  const started = 0
  const lastMessage = 19_000

  it("counts from the trigger's own start, if there is anything to compact", () => {
    expect(cooldown.dueTime?.(view({}))).toBe(started + minutes(5))
    expect(idle.dueTime?.(view({}))).toBe(lastMessage + minutes(5))
    expect(idle.dueTime?.(view({ tailFrom: 0 }))).toBeNull()
    expect(Trigger.backlog({ messages: 1 }).dueTime).toBeUndefined()
    expect(idle.due(view({ now: lastMessage + minutes(5) }))).toBe("idle")
  })

  it("is the first of any", () => {
    expect(Trigger.any(idle, cooldown).dueTime?.(view({}))).toBe(started + minutes(5))
    expect(Trigger.any(Trigger.never, idle).dueTime?.(view({}))).toBe(lastMessage + minutes(5))
    expect(Trigger.any(Trigger.never).dueTime?.(view({}))).toBeNull()
  })

  it("is the last of all that are not due yet, and none if one of them needs a message", () => {
    const due = Trigger.backlog({ messages: 20 })
    const notDue = Trigger.backlog({ messages: 21 })
    expect(Trigger.all(idle, cooldown, due).dueTime?.(view({}))).toBe(lastMessage + minutes(5))
    expect(Trigger.all(cooldown, due).dueTime?.(view({}))).toBe(started + minutes(5))
    expect(Trigger.all(idle, notDue).dueTime?.(view({}))).toBeNull()
  })
})
