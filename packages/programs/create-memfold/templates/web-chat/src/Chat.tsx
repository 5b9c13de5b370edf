/** A chat: its messages, and the place to write. */
import { useChat } from "@ai-sdk/react"
import { DefaultChatTransport } from "ai"
import { ArrowDown, ArrowUp, Brain, Square } from "lucide-react"
import { type FormEvent, useState } from "react"
import { StickToBottom, useStickToBottomContext } from "use-stick-to-bottom"
import { open, stop, type Stored, stored } from "./api.js"
import { versionsOf } from "./branches.js"
import { Memory } from "./Memory.js"
import { Said } from "./Said.js"
import { Writing } from "./Writing.js"

const suggestions = [
  "My order is KX-4471.",
  "I am vegetarian, and I live in Graz.",
  "What do you know about me?",
]

const ToEnd = () => {
  const { isAtBottom, scrollToBottom } = useStickToBottomContext()
  if (isAtBottom) return null
  return (
    <button className="icon to-end" aria-label="To the newest message" onClick={() => void scrollToBottom()}>
      <ArrowDown size={16} aria-hidden />
    </button>
  )
}

interface ChatProps {
  readonly id: string
  readonly before: Stored
  readonly onAnswer: () => void
}

export const Chat = ({ id, before, onAnswer }: ChatProps) => {
  const [branches, setBranches] = useState(before.branches)
  const [text, setText] = useState("")
  const [isRemembering, setRemembering] = useState(false)
  const { messages, sendMessage, regenerate, setMessages, status, error } = useChat({
    id,
    messages: before.messages,
    transport: new DefaultChatTransport({ api: `/api/chats/${id}/answer` }),
    onFinish: () => {
      onAnswer()
      void stored(id).then((now) => setBranches(now.branches))
    },
  })
  const isAnswering = status === "submitted" || status === "streaming"
  const say = (said: { readonly text: string; readonly messageId?: string }) => {
    if (said.text.trim() === "" || isAnswering) return
    history.replaceState(null, "", `/chat/${id}`)
    void sendMessage(said)
    setText("")
  }
  const send = (event: FormEvent) => {
    event.preventDefault()
    say({ text })
  }
  const show = async (branch: number) => {
    await open(id, branch)
    const now = await stored(id)
    setMessages(now.messages)
    setBranches(now.branches)
  }
  return (
    <main>
      <button className="icon remember" aria-expanded={isRemembering} onClick={() => setRemembering(true)}>
        <Brain size={16} aria-hidden /> Memory
      </button>
      <StickToBottom className="said" initial="instant" resize="smooth">
        <StickToBottom.Content className="messages">
          {messages.length > 0 ? null : (
            <section className="empty">
              <h1>What can I do for you?</h1>
              {suggestions.map((suggestion) => (
                <button
                  key={suggestion}
                  className="outline secondary"
                  onClick={() => say({ text: suggestion })}
                >
                  {suggestion}
                </button>
              ))}
            </section>
          )}
          {messages.map((message, index) => (
            // Each message of this page is one stored message. With tools, an answer is several.
            <Said
              key={message.id}
              message={message}
              versions={versionsOf(branches, index)}
              isBusy={isAnswering}
              onEdit={(edited) => say({ text: edited, messageId: message.id })}
              onAgain={() => void regenerate({ messageId: message.id })}
              onVersion={(branch) => void show(branch)}
            />
          ))}
          {status === "submitted" ? (
            <p className="waiting" aria-busy="true" aria-label="The model is thinking" />
          ) : null}
          {error === undefined ? null : (
            <p role="alert">
              {error.message}{" "}
              <button className="icon" onClick={() => void regenerate()}>
                Try again
              </button>
            </p>
          )}
        </StickToBottom.Content>
        <ToEnd />
      </StickToBottom>
      <form onSubmit={send}>
        <Writing label="Message" placeholder="Write a message" text={text} onText={setText} />
        {isAnswering ? (
          <button type="button" className="icon" aria-label="Stop" onClick={() => void stop(id)}>
            <Square size={16} aria-hidden />
          </button>
        ) : (
          <button className="icon" aria-label="Send" disabled={text.trim() === ""}>
            <ArrowUp size={18} aria-hidden />
          </button>
        )}
      </form>
      {isRemembering ? <Memory chat={id} onClose={() => setRemembering(false)} /> : null}
    </main>
  )
}
