/** The page: the list of sessions, or one session; and who may do what. */
import type { schemas } from "@memfold/client"
import { useEffect, useState } from "preact/hooks"
import { useAddress, written } from "./address.js"
import { Dialog } from "./parts/Dialog.js"
import { Badge, Problem } from "./parts/Notices.js"
import { ask, type Refusal, token } from "./service/ask.js"
import { type Rights, RightsContext } from "./service/rights.js"
import { SessionView } from "./views/SessionView.js"
import { Sessions } from "./views/Sessions.js"

/** Asks for a token of the service. */
const TokenDialog = ({ problem, onClose }: { readonly problem: string; readonly onClose: () => void }) => (
  <Dialog
    title="A token of the service"
    verb="Use it"
    act={async (form) => {
      token.set(String(form.get("token")).trim())
      await ask("/v1/access")
    }}
    onClose={onClose}
  >
    <p>{problem}</p>
    <label>
      Token
      <input name="token" type="password" autocomplete="off" required />
    </label>
    <p class="soft">It is kept in this tab only, until the tab is closed.</p>
  </Dialog>
)

export const App = () => {
  const address = useAddress()
  const [rights, setRights] = useState<Rights | null>(null)
  const [problem, setProblem] = useState<Refusal | null>(null)
  const [asked, setAsked] = useState(0)
  useEffect(() => {
    const read = async () => {
      const access = await ask<typeof schemas.Access.Type>("/v1/access")
      setRights(new Set(access.rights))
      setProblem(null)
    }
    read().catch(setProblem)
  }, [asked])
  if (problem?.status === 401)
    return <TokenDialog problem={problem.message} onClose={() => setAsked((times) => times + 1)} />
  const { session } = address
  return (
    <RightsContext.Provider value={rights ?? new Set()}>
      <header class="top">
        <a class="brand" href={written({ session: null, view: "time", version: null })}>
          memfold studio
        </a>
        {rights !== null && !rights.has("write") ? <Badge>Read only</Badge> : null}
      </header>
      {problem !== null ? (
        <main>
          <Problem>{problem.message}</Problem>
        </main>
      ) : session === null ? (
        <Sessions />
      ) : (
        <SessionView key={session} {...address} session={session} />
      )}
    </RightsContext.Provider>
  )
}
