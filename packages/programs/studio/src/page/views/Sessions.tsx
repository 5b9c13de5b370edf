/** The list of sessions: searchable by title, owner and words, and live. */
import type { schemas } from "@memfold/client"
import type { ComponentChildren } from "preact"
import { useEffect, useReducer, useState } from "preact/hooks"
import { written } from "../address.js"
import { ago, count, moment, several } from "../format.js"
import { Problem } from "../parts/Notices.js"
import { type Column, Table } from "../parts/Table.js"
import { ask, ofSession, reasonOf } from "../service/ask.js"
import { type Found, piecesOf, searchWords, type Unsearched, wordsIn } from "../service/searchWords.js"

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
      set((known) => ({ sessions: known?.sessions ?? [], more: false, problem: reasonOf(error) }))
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

/** What sessions consist of; read again when their versions have moved. */
const useOverviews = (sessions: ReadonlyArray<schemas.SessionInfo>): typeof overviews => {
  const [, draw] = useReducer((times: number) => times + 1, 0)
  useEffect(() => {
    const stop = new AbortController()
    const read = async ({ session }: schemas.SessionInfo): Promise<void> => {
      overviews.set(session, await ask(ofSession(session), { signal: stop.signal }))
      draw(0 as never)
    }
    // A number that cannot be read stays open.
    for (const info of sessions)
      if ((overviews.get(info.session)?.version ?? -1) < info.version) read(info).catch(() => undefined)
    return () => stop.abort()
  }, [sessions.map(({ session, version }) => `${session} ${version}`).join("\n")])
  return overviews
}

/** Shows where the words of a query are in a text. */
const Excerpt = ({ query, text }: { readonly query: string; readonly text: string }) => {
  const words = wordsIn(query)
  return (
    <span class="excerpt">
      {piecesOf(text).map((piece, at) =>
        words.has(piece.toLowerCase()) ? <mark key={at}>{piece}</mark> : piece,
      )}
    </span>
  )
}

/** What was searched for in the words of the messages, and what was found. */
interface Searched {
  readonly of: string
  readonly found: ReadonlyMap<string, Found>
}

const Rows = ({
  sessions,
  searched,
}: {
  readonly sessions: ReadonlyArray<schemas.SessionInfo>
  readonly searched: Searched | null
}) => {
  const known = useOverviews(sessions)
  const now = Date.now()
  type Info = schemas.SessionInfo
  const number = (
    name: string,
    of: (overview: schemas.SessionOverview) => ComponentChildren,
  ): Column<Info> => [
    name,
    ({ session }) => {
      const overview = known.get(session)
      return overview === undefined ? "…" : of(overview)
    },
    "number",
  ]
  const named = ({ session, title }: Info) => {
    const hit = searched?.found.get(session)
    return (
      <>
        <a href={written({ session, view: "time", version: null, message: hit?.index ?? null })}>
          {title ?? session}
        </a>
        {title === undefined ? null : <span class="soft id">{session}</span>}
        {hit === undefined ? null : <Excerpt query={searched!.of} text={hit.text} />}
      </>
    )
  }
  const columns: ReadonlyArray<Column<Info>> = [
    ["Session", named],
    ["Owner", ({ owner }) => owner ?? "–"],
    number("Messages", ({ total }) => count(total)),
    number("Tokens", ({ tokens }) => count(tokens)),
    number("Summaries", ({ summaries, compacting }) => `${count(summaries)}${compacting ? " ⟳" : ""}`),
    number("Failures", (one) => <span class={one.failures > 0 ? "problem" : ""}>{count(one.failures)}</span>),
    ["Last activity", ({ updatedTime }) => <span title={moment(updatedTime)}>{ago(updatedTime, now)}</span>],
  ]
  return <Table label="Sessions" columns={columns} rows={sessions} keyOf={({ session }) => session} />
}

export const Sessions = () => {
  const [pages, setPages] = useState(pagesAtFirst)
  const [rows, setRows] = useState(rowsAtOnce)
  const [filter, setFilter] = useState("")
  const [words, setWords] = useState<Searched | null>(null)
  const [searching, setSearching] = useState(false)
  const [unindexed, setUnindexed] = useState<Unsearched | null>(null)
  const list = useSessions(pages)
  useEffect(() => void (document.title = "Sessions – memfold studio"), [])
  const searched = words?.of === filter ? words : null
  const wanted = filter.trim().toLowerCase()
  const there = (list?.sessions ?? []).filter(({ session }) => !isOwn(session, wanted))
  const scoreOf = ({ session }: schemas.SessionInfo) => searched?.found.get(session)?.score ?? 0
  const sessions = there
    .filter(({ session, title, owner }) =>
      searched === null
        ? [session, title, owner].some((text) => text?.toLowerCase().includes(wanted) === true)
        : searched.found.has(session),
    )
    .toSorted((one, other) => scoreOf(other) - scoreOf(one) || other.updatedTime - one.updatedTime)
  const search = async () => {
    setSearching(true)
    setWords({ of: filter, found: await searchWords(filter, there, setUnindexed) })
    setSearching(false)
  }
  const shown = sessions.slice(0, rows)
  // The store has its sessions in the order of their ids: what is not read may be anything behind them.
  const ofAll = list?.more === true ? ` (of the first ${count(there.length)} by their ids)` : ""
  return (
    <main class="page-view">
      <h1>Sessions</h1>
      <form
        class="row"
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
        <button disabled={wanted === "" || searching}>
          {!searching
            ? "Search messages"
            : unindexed === null
              ? "Searching…"
              : `Indexing, ${several(unindexed.left, unindexed.what)} left…`}
        </button>
      </form>
      <Problem>{list?.problem ?? null}</Problem>
      <p class="soft" role="status">
        {list === null
          ? "Reading…"
          : searched !== null
            ? `${several(sessions.length, "session")} with messages that fit “${searched.of}”${ofAll}`
            : wanted !== ""
              ? `${several(sessions.length, "session")} of ${list.more ? "the first " : ""}${count(there.length)} with “${filter}” in title, owner or id`
              : there.length === 0
                ? "There is no session yet. The first message that is appended begins one."
                : `${several(sessions.length, "session")}, the newest activity first${ofAll}`}
      </p>
      {sessions.length === 0 ? null : <Rows sessions={shown} searched={searched} />}
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
