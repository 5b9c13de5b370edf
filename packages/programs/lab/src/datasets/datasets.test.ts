import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { askedIn, type Conversation } from "../Conversation.js"
import { readDataSet } from "./index.js"

const read = (value: unknown): ReadonlyArray<Conversation> => {
  const conversations = Either.getOrThrow(readDataSet(value))
  if (conversations === null) throw new Error("it was taken for no data set")
  return conversations
}

const problemOf = (value: unknown): string =>
  Either.match(readDataSet(value), { onLeft: ({ message }) => message, onRight: () => "" })

const said = (dia_id: string, speaker: string, text: string) => ({ dia_id, speaker, text })

const locomo = {
  sample_id: "conv-1",
  conversation: {
    speaker_a: "Ann",
    speaker_b: "Bob",
    session_1_date_time: "1:56 pm on 8 May, 2023",
    session_1: [said("D1:1", "Ann", "I bought a boat."), said("D1:2", "Bob", "How large is it?")],
    session_2_date_time: "12:05 am on 9 May, 2023",
    session_2: [said("D2:1", "Ann", "Nine metres.")],
  },
  qa: [
    { question: "What did Ann buy?", answer: "a boat", category: 4, evidence: ["D1:1"] },
    { question: "How large is the boat?", answer: 9, category: 1, evidence: ["D1:2; D2:1", "D7:9"] },
    { question: "Is Ann rich?", answer: "probably", category: 3, evidence: ["D1:1"] },
    { question: "What did Bob buy?", adversarial_answer: "a boat", category: 5, evidence: ["D1:1"] },
    { question: "Whose is the cat?", evidence: ["D9:1"] },
    { question: "Nothing said of it", answer: 1 },
  ],
}

describe("LoCoMo", () => {
  it("has speakers as roles, times in UTC, days, and questions whose evidence is there", () => {
    const [conversation, ...others] = read([locomo])
    expect(others).toEqual([])
    const first = Date.UTC(2023, 4, 8, 13, 56)
    expect(conversation).toEqual({
      name: "conv-1",
      messages: [
        Message.user("I bought a boat.", { name: "Ann", time: first }),
        Message.assistant("How large is it?", { name: "Bob", time: first }),
        Message.user("Nine metres.", { name: "Ann", time: Date.UTC(2023, 4, 9, 0, 5) }),
      ],
      questions: [
        { text: "What did Ann buy?", evidence: [0], answer: "a boat" },
        { text: "How large is the boat?", evidence: [1, 2], answer: "9" },
        { text: "Is Ann rich?", evidence: [0] },
        { text: "What did Bob buy?", evidence: [0] },
      ],
      ends: [2, 3],
    })
  })

  it("can be one conversation without a list", () => {
    expect(read(locomo)).toEqual(read([locomo]))
  })

  it.each([
    [{ ...locomo.conversation, session_2_date_time: "yesterday" }, "session_2_date_time"],
    [{ ...locomo.conversation, session_2: [{ text: "secret words" }] }, '"dia_id"'],
    [{ speaker_a: "Ann" }, '"session_1"'],
  ])("says what is wrong with it, without its words", (conversation, place) => {
    const problem = problemOf([locomo, { ...locomo, conversation }])
    expect(problem).toContain("LoCoMo")
    expect(problem).toContain("conversation 1")
    expect(problem).toContain(place)
    expect(problem).not.toContain("secret")
  })
})

const history = {
  question_id: "q1",
  question: "Where do I live?",
  answer: "Graz",
  answer_session_ids: ["b", "c"],
  haystack_session_ids: ["b", "a", "c"],
  haystack_dates: ["2023/07/14 (Fri) 10:14", "2023/07/12 (Wed) 09:00", "2023/07/15 (Sat) 00:00"],
  haystack_sessions: [
    [
      { role: "user", content: "I live in Graz.", has_answer: true },
      { role: "assistant", content: "Nice.", has_answer: false },
    ],
    [
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hello!" },
    ],
    [{ role: "user", content: "Graz again." }],
  ],
}

describe("LongMemEval", () => {
  it("is read in the order of its dates; marked messages are the evidence, or else the whole chat", () => {
    const [conversation] = read([history])
    expect(conversation?.messages.map(Message.text)).toEqual([
      "Hello",
      "Hello!",
      "I live in Graz.",
      "Nice.",
      "Graz again.",
    ])
    expect(conversation?.messages[2]?.time).toBe(Date.UTC(2023, 6, 14, 10, 14))
    expect(conversation?.questions).toEqual([{ text: "Where do I live?", evidence: [2, 4], answer: "Graz" }])
    expect(conversation?.ends).toEqual([2, 4, 5])
  })

  it("may have lists of questions and of what answers each", () => {
    const { question: _question, answer: _answer, ...rest } = history
    const several = {
      ...rest,
      questions: ["Where?", "Hello?"],
      answers: ["Graz"],
      answer_session_ids: [["b"], ["a"]],
    }
    expect(read([several])[0]?.questions).toEqual([
      { text: "Where?", evidence: [2], answer: "Graz" },
      { text: "Hello?", evidence: [0, 1] },
    ])
  })

  it("has no answer to a question of abstention", () => {
    expect(read([{ ...history, question_id: "q1_abs" }])[0]?.questions).toEqual([])
  })

  it("needs a date for each chat", () => {
    expect(problemOf([{ ...history, haystack_dates: [] }])).toContain('"haystack_dates"')
  })
})

it("what is no data set is left to others", () => {
  for (const value of [null, [], { messages: [] }, [{ role: "user", content: "Hello" }], "text"])
    expect(readDataSet(value)).toEqual(Either.right(null))
})

it("questions are asked every tenth day and at the end, and never of a transcript", () => {
  const ends = Array.from({ length: 23 }, (_, day) => 2 * (day + 1))
  const conversation = { name: "c", messages: [], ends, questions: [{ text: "?", evidence: [0] }] }
  expect(askedIn(conversation)).toEqual([20, 40, 46])
  expect(askedIn({ ...conversation, questions: [] })).toEqual([])
})
