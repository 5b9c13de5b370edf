/** The list of sessions: searchable by title, owner and words, and live. */
import type { schemas } from "@memfold/client"
import { useEffect, useState } from "preact/hooks"
import { go, written } from "../address.js"
import { ago, count, moment, several } from "../format.js"
import { ask, ofSession } from "../service/ask.js"
import { type Found, searchWords } from "../service/searchWords.js"

/** How long a list stays before it is read again, in milliseconds for each page of it. */
const refresh = 3_000
/** The most sessions of a request, and the most requests at first: so a filter and the newest activity are of the whole store. */
const pageSize = 1_000
const pagesAtFirst = 5
/** The most rows, until more are asked for. */
const rowsAtOnce = 100

/** Whether a session is a log of memfold itself, such as one that counts a spend. Who names it by its id gets it. */
const isOwn = (session: string, wanted: string): boolean =>
  session.startsWith("memfold:") && !wanted.startsWith("memfold:")

/** The pages of sessions: as many as were asked for. */
const useSessions = (pages: number) => {
  const [list, set] = useState<{
    readonly sessions: ReadonlyArray<schemas.SessionInfo>
    readonly more: boolean
    readonly problem: string | null
  } | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    const read = async (): Promise<void> => {
      const sessions: Array<schemas.SessionInfo> = []
      let cursor: string | null = null
      for (let page = 0; page < pages; page++) {
        const found: schemas.SessionPage = await ask("/v1/sessions", {
          query: { limit: pageSize, cursor: cursor ?? undefined },
          signal: stop.signal,
        })
        sessions.push(...found.sessions)
        cursor = found.next
        size = page + 1
        if (cursor === null) break
      }
      set({ sessions, more: cursor !== null, problem: null })
    }
    const fail = (error: unknown) => {
      if (stop.signal.aborted) return
      const problem = error instanceof Error ? error.message : String(error)
      set((known) => ({ sessions: known?.sessions ?? [], more: false, problem }))
    }
    let [timer, size] = [0, 1]
    const again = (): void => {
      const next = () => {
        if (!stop.signal.aborted) timer = window.setTimeout(again, refresh * size)
      }
      // A page that nobody looks at asks nothing.
      if (document.hidden) return next()
      read().catch(fail).finally(next)
    }
    again()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [pages])
  return list
}

const overviews = new Map<string, schemas.SessionOverview>()

/** What a session consists of; read again when its version has moved. */
const useOverview = ({ session, version }: schemas.SessionInfo) => {
  const [, draw] = useState(0)
  const known = overviews.get(session)
  useEffect(() => {
    if (known !== undefined && known.version >= version) return
    const stop = new AbortController()
    const read = async () => {
      overviews.set(session, await ask(ofSession(session), { signal: stop.signal }))
      draw((times) => times + 1)
    }
    // A number that cannot be read stays open.
    read().catch(() => undefined)
    return () => stop.abort()
  }, [session, version])
  return known
}

const numbers = ["messages", "tokens", "summaries", "failures"] as const
type Numbers = Partial<Record<string, unknown>>

const Row = ({
  info,
  now,
  found,
}: {
  readonly info: schemas.SessionInfo
  readonly now: number
  readonly found: Found | undefined
}) => {
  const overview = useOverview(info)
  const { session, title, owner, updatedTime } = info
  const shown: Numbers = { ...overview, messages: overview?.total }
  const href = written({ session, view: "time", version: null })
  return (
    <tr>
      <th scope="row">
        <a
          href={href}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return
            event.preventDefault()
            go({ session, view: "time", version: null })
          }}
        >
          {title ?? session}
        </a>
        {title === undefined ? null : <span class="soft id">{session}</span>}
        {found === undefined ? null : <span class="excerpt">{found.text}</span>}
      </th>
      <td data-label="Owner">{owner ?? "–"}</td>
      {numbers.map((name) => (
        <td
          key={name}
          data-label={name}
          class={`number ${name === "failures" && Number(shown[name]) > 0 ? "problem" : ""}`}
        >
          {typeof shown[name] === "number" ? count(shown[name]) : "…"}
          {name === "summaries" && overview?.compacting === true ? " ⟳" : ""}
        </td>
      ))}
      <td data-label="Last activity" title={moment(updatedTime)}>
        {ago(updatedTime, now)}
      </td>
    </tr>
  )
}

export const Sessions = () => {
  const [pages, setPages] = useState(pagesAtFirst)
  const [rows, setRows] = useState(rowsAtOnce)
  const [filter, setFilter] = useState("")
  const [words, setWords] = useState<{
    readonly of: string
    readonly found: ReadonlyMap<string, Found>
  } | null>(null)
  const [searching, setSearching] = useState(false)
  const list = useSessions(pages)
  useEffect(() => void (document.title = "Sessions – memfold studio"), [])
  const isSearched = words !== null && words.of === filter
  const wanted = filter.trim().toLowerCase()
  const there = (list?.sessions ?? []).filter(({ session }) => !isOwn(session, wanted))
  const sessions = there
    .filter(({ session, title, owner }) =>
      isSearched
        ? words.found.has(session)
        : [session, title, owner].some((text) => text?.toLowerCase().includes(wanted) === true),
    )
    .toSorted((one, other) => {
      const scores = isSearched
        ? words.found.get(other.session)!.score - words.found.get(one.session)!.score
        : 0
      return scores === 0 ? other.updatedTime - one.updatedTime : scores
    })
  const search = async () => {
    setSearching(true)
    setWords({ of: filter, found: await searchWords(filter, there) })
    setSearching(false)
  }
  const now = Date.now()
  const shown = sessions.slice(0, rows)
  // The store has its sessions in the order of their ids: what is not read may be anything behind them.
  const ofAll = list?.more === true ? ` (of the first ${count(there.length)} by their ids)` : ""
  return (
    <main class="sessions">
      <h1>Sessions</h1>
      <form
        class="search"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          if (wanted !== "") void search()
        }}
      >
        <input
          type="search"
          aria-label="Title, owner, id or words"
          placeholder="Title, owner, id or words"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
        <button disabled={wanted === "" || searching}>{searching ? "Searching…" : "Search messages"}</button>
      </form>
      {list?.problem == null ? null : (
        <p class="problem" role="alert">
          {list.problem}
        </p>
      )}
      <p class="soft" role="status">
        {list === null
          ? "Reading…"
          : isSearched
            ? `${several(sessions.length, "session")} with messages that fit “${words.of}”${ofAll}`
            : wanted !== ""
              ? `${several(sessions.length, "session")} of ${list.more ? "the first " : ""}${count(there.length)} with “${filter}” in title, owner or id`
              : there.length === 0
                ? "There is no session yet. The first message that is appended begins one."
                : `${several(sessions.length, "session")}, the newest activity first${ofAll}`}
      </p>
      {sessions.length === 0 ? null : (
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Session</th>
              <th scope="col">Owner</th>
              <th scope="col">Messages</th>
              <th scope="col">Tokens</th>
              <th scope="col">Summaries</th>
              <th scope="col">Failures</th>
              <th scope="col">Last activity</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((info) => (
              <Row
                key={info.session}
                info={info}
                now={now}
                found={isSearched ? words.found.get(info.session) : undefined}
              />
            ))}
          </tbody>
        </table>
      )}
      {sessions.length > rows ? (
        <button onClick={() => setRows(rows + rowsAtOnce)}>
          More sessions: {count(shown.length)} of {count(sessions.length)} are shown
        </button>
      ) : list?.more === true ? (
        <button onClick={() => setPages(pages + pagesAtFirst)}>Read more sessions</button>
      ) : null}
    </main>
  )
}
