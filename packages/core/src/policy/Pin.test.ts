import { describe, expect, it } from "vitest"
import { Message, Pin, Structure } from "../index.js"

const { assistant, call, result, system, user } = Message

/** Which of these messages are pinned as they come in one after another. */
const pinned = (pin: Pin.Pin, messages: ReadonlyArray<Message.Message>) => {
  let structure = Structure.empty
  return messages.map((message, index) => {
    const answer = pin.pins(message, structure)
    structure = Structure.addMessage(structure, index, message).structure
    return answer
  })
}

describe("the first message of the user's", () => {
  const first = (...messages: ReadonlyArray<Message.Message>) => pinned(Pin.firstUserMessage, messages)

  it("is pinned, and no other", () => {
    expect(first(user("do this"), assistant("a"), user("and that"))).toEqual([true, false, false])
    expect(first(user("do"), user("this"))).toEqual([true, false])
  })

  it("is so wherever it comes", () => {
    const asking = call([{ id: "1", name: "t", arguments: "{}" }])
    expect(first(system("be kind"), assistant("hello"), asking, result({ id: "1", output: "x" }))).toEqual([
      false,
      false,
      false,
      false,
    ])
    expect(first(system("be kind"), assistant("hello"), user("do"), user("go on"))).toEqual([
      false,
      false,
      true,
      false,
    ])
  })
})
