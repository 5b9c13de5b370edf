/// <reference lib="dom" />
/** The page of the browser test: `useChat` with a text, a button to send it, and buttons to edit, regenerate, stop and go back. */
import { useChat } from "@ai-sdk/react"
import type { UIMessage } from "ai"
import { createElement, useState } from "react"
import { createRoot } from "react-dom/client"

const button = (name: string, onClick: () => unknown) =>
  createElement("button", { key: name, onClick: () => void onClick() }, name)

const saidIn = ({ parts }: UIMessage): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")

const Chat = ({ initial }: { readonly initial: Array<UIMessage> }) => {
  const [text, setText] = useState("")
  const { messages, sendMessage, regenerate, stop, status } = useChat({ id: "chat", messages: initial })
  const goBack = async () => {
    await fetch("/api/first-branch", { method: "POST" })
    location.reload()
  }
  return createElement(
    "main",
    { "data-status": status },
    messages.map((message) =>
      createElement(
        "section",
        { key: message.id },
        createElement("p", null, `${message.role} ${saidIn(message)}`),
        message.role === "user"
          ? button("Edit", () => sendMessage({ text, messageId: message.id }))
          : button("Regenerate", () => regenerate({ messageId: message.id })),
      ),
    ),
    createElement("input", {
      "aria-label": "Text",
      value: text,
      onChange: ({ target }: { readonly target: HTMLInputElement }) => setText(target.value),
    }),
    button("Send", () => sendMessage({ text })),
    button("Stop", () => stop()),
    button("First branch", goBack),
  )
}

const open = async () => {
  const initial = (await (await fetch("/api/chat")).json()) as Array<UIMessage>
  createRoot(document.body).render(createElement(Chat, { initial }))
}

void open()
