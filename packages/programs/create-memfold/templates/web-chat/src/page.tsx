/** The page: the chats of this browser, and the one that is open. */
import { useChat } from "@ai-sdk/react"
import { DefaultChatTransport, type UIMessage } from "ai"
import { type FormEvent, useEffect, useState } from "react"
import { createRoot } from "react-dom/client"

interface Listed {
  readonly id: string
  readonly title: string | null
}

const read = async <Answer,>(path: string): Promise<Answer> => {
  const response = await fetch(path)
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return (await response.json()) as Answer
}

const textOf = ({ parts }: UIMessage) => parts.map((part) => (part.type === "text" ? part.text : "")).join("")

const Chat = ({ id, before, onAnswer }: { id: string; before: Array<UIMessage>; onAnswer: () => void }) => {
  const { messages, sendMessage, regenerate, status, stop, error } = useChat({
    id,
    messages: before,
    onFinish: onAnswer,
    transport: new DefaultChatTransport({ api: `/api/chats/${id}/answer` }),
  })
  const [text, setText] = useState("")
  const [edited, setEdited] = useState<string>()
  const isAnswering = status === "submitted" || status === "streaming"
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === "" || isAnswering) return
    void sendMessage(edited === undefined ? { text } : { text, messageId: edited })
    setText("")
    setEdited(undefined)
  }
  const edit = (message: UIMessage) => {
    setEdited(message.id)
    setText(textOf(message))
  }
  return (
    <main>
      <ol aria-live="polite">
        {messages.map((message) => (
          <li key={message.id} className={message.role}>
            <p>{textOf(message)}</p>
            {message.role === "user" ? (
              <button type="button" onClick={() => edit(message)}>
                Edit
              </button>
            ) : (
              <button
                type="button"
                disabled={isAnswering}
                onClick={() => void regenerate({ messageId: message.id })}
              >
                Another answer
              </button>
            )}
          </li>
        ))}
      </ol>
      {error === undefined ? null : <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input
          aria-label={edited === undefined ? "Message" : "New text of the message"}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        {isAnswering ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button>{edited === undefined ? "Send" : "Replace"}</button>
        )}
      </form>
    </main>
  )
}

const Page = () => {
  const [chats, setChats] = useState<Array<Listed>>([])
  const [open, setOpen] = useState<{ id: string; before: Array<UIMessage> }>()
  const list = () => void read<Array<Listed>>("/api/chats").then(setChats)
  const openChat = async (id: string) => {
    const before = await read<Array<UIMessage>>(`/api/chats/${id}/messages`)
    setOpen({ id, before })
  }
  const begin = () => setOpen({ id: crypto.randomUUID(), before: [] })
  useEffect(() => {
    list()
    begin()
  }, [])
  return (
    <>
      <nav>
        <button type="button" onClick={begin}>
          New chat
        </button>
        {chats.map(({ id, title }) => (
          <button key={id} type="button" aria-current={open?.id === id} onClick={() => void openChat(id)}>
            {title ?? id}
          </button>
        ))}
      </nav>
      {open === undefined ? null : <Chat key={open.id} {...open} onAnswer={list} />}
    </>
  )
}

createRoot(document.querySelector("#page")!).render(<Page />)
