/** The page: the chats of this browser, and the one in the address. */
import "@picocss/pico/css/pico.min.css"
import "./page.css"
import { Menu, SquarePen } from "lucide-react"
import { type MouseEvent, useCallback, useEffect, useState } from "react"
import { createRoot } from "react-dom/client"
import { type Listed, listed, type Stored, stored } from "./api.js"
import { Chat } from "./Chat.js"

/** The chat in the address, such as `/chat/4f2a`. Without one, a new chat begins. */
const chatInAddress = () => /^\/chat\/([\w-]+)$/u.exec(location.pathname)?.[1]

const Page = () => {
  const [chats, setChats] = useState<ReadonlyArray<Listed>>([])
  const [open, setOpen] = useState<{ readonly id: string; readonly before: Stored }>()
  const [error, setError] = useState<string>()
  const list = useCallback(async () => setChats(await listed()), [])
  const show = useCallback(async () => {
    const id = chatInAddress()
    const before = id === undefined ? { messages: [], branches: [] } : await stored(id)
    setOpen({ id: id ?? crypto.randomUUID(), before })
  }, [])
  const failed = ({ message }: Error) => setError(message)
  useEffect(() => {
    const go = () => void show().catch(failed)
    // The first answer of the server says who this browser is: only then a chat can begin.
    void list().then(show).catch(failed)
    addEventListener("popstate", go)
    return () => removeEventListener("popstate", go)
  }, [list, show])

  /** Follows a link within the page. */
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    history.pushState(null, "", event.currentTarget.href)
    event.currentTarget.closest("details")?.removeAttribute("open")
    void show().catch(failed)
  }
  const links = (
    <nav className="chats" aria-label="Chats">
      <a href="/" className="begin" onClick={follow}>
        <SquarePen size={16} aria-hidden /> New chat
      </a>
      <ul>
        {chats.map(({ id, title }) => (
          <li key={id}>
            <a href={`/chat/${id}`} aria-current={open?.id === id ? "page" : undefined} onClick={follow}>
              {title ?? "Untitled"}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
  return (
    <>
      <aside>{links}</aside>
      <details className="menu">
        <summary role="button" className="icon" aria-label="Chats">
          <Menu size={20} aria-hidden />
        </summary>
        {links}
      </details>
      {error === undefined ? null : <p role="alert">{error}</p>}
      {open === undefined ? null : (
        <Chat key={open.id} id={open.id} before={open.before} onAnswer={() => void list().catch(failed)} />
      )}
    </>
  )
}

createRoot(document.querySelector("#page")!).render(<Page />)
