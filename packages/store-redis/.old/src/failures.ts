/** What can go wrong with a server, in words: what it is, what to do, and whether waiting may help. */

/** A reason, without anything that was sent: neither secrets nor messages. */
export interface Failure {
  readonly reason: string
  /** Whether it may pass by itself: a failover, a restart, a lost connection. */
  readonly passing: boolean
  /** What Redis or the client calls it. */
  readonly code: string
}

type Known = readonly [passing: boolean, reason: (where: string) => string]

const away = (what: string): Known => [
  true,
  (where) => `${where} ${what}; start it, or check the address and the network`,
]
const moving = (what: string): Known => [true, (where) => `${where} ${what}; try again when it has settled`]

/** By Redis' error codes, Node's, and the client's names. */
const known: Readonly<Record<string, Known>> = {
  ECONNREFUSED: away("refuses connections"),
  ECONNRESET: away("closed the connection"),
  EPIPE: away("closed the connection"),
  CLOSED: away("closed the connection"),
  UNREACHABLE: away("cannot be reached"),
  EHOSTUNREACH: away("cannot be reached"),
  ENETUNREACH: away("cannot be reached"),
  ENOTFOUND: away("has a name that is not known"),
  EAI_AGAIN: away("has a name that is not known"),
  ETIMEDOUT: away("does not answer"),
  TIMEOUT: away("does not answer in time"),
  LOADING: moving("is still loading its data"),
  BUSY: moving("is busy with somebody's script"),
  MASTERDOWN: moving("is a replica that has lost its master"),
  CLUSTERDOWN: moving("does not serve this part of its data: a master is down and no replica has taken over"),
  TRYAGAIN: moving("is moving this session to another server"),
  MOVED: moving("has moved this session to another server"),
  ASK: moving("is moving this session to another server"),
  UNKILLABLE: moving("is busy with somebody's script"),
  READONLY: [
    true,
    (where) => `${where} is a replica, and takes no writes; name its master, a cluster, or sentinels`,
  ],
  NOREPLICAS: [
    true,
    (where) =>
      `${where} takes no writes, since too few replicas follow it (min-replicas-to-write); bring them back`,
  ],
  OOM: [false, (where) => `${where} has no memory left; raise maxmemory, or delete sessions`],
  MISCONF: [
    false,
    (where) =>
      `${where} takes no writes, since it cannot save to its disk; make room there and look at its log`,
  ],
  NOAUTH: [false, (where) => `${where} wants a password; name one`],
  WRONGPASS: [false, (where) => `${where} does not know this user with this password; check both`],
  NOPERM: [
    false,
    (where) =>
      `${where} does not allow this user to do it; grant the commands and keys that the README lists`,
  ],
  WRONGTYPE: [
    false,
    (where) => `${where} has something else at a key of this session; choose another prefix`,
  ],
  SENTINEL: moving("is not known to any sentinel that answers"),
  NODATABASE: [
    false,
    (where) =>
      `${where} has no database of that number; choose one that it has (\`databases\` in its settings)`,
  ],
  INCLUSTER: [
    false,
    (where) =>
      `${where} is one server of a cluster; name it as one (\`cluster\`, or ?cluster=true in the URL)`,
  ],
  NOCLUSTER: [false, (where) => `${where} is no cluster; leave out \`cluster\``],
  NOTLS: [
    false,
    (where) => `${where} cannot be reached by TLS; check its certificate, or whether it speaks TLS at all`,
  ],
}

const messageOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error)

/** The client gives up after so many redirections, whatever the last answer was; that one counts. */
const lastAnswer = (text: string): string =>
  /^Too many Cluster redirections\. Last error: \w+: (.*)$/s.exec(text)?.[1] ?? text

/** What an error is called here. */
const codeOf = (error: unknown): string => {
  const text = lastAnswer(messageOf(error))
  const named = typeof error === "object" && error !== null && "code" in error ? String(error.code) : ""
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(named)) return "NOTLS"
  if (Object.hasOwn(known, named)) return named
  const [first = ""] = text.split(" ")
  if (Object.hasOwn(known, first)) return first
  if (/sentinels? (are|is) unreachable/i.test(text)) return "SENTINEL"
  if (/timed? ?out/i.test(text)) return "TIMEOUT"
  if (/invalid password|invalid username-password/.test(text)) return "WRONGPASS"
  if (/DB index is out of range|SELECT is not allowed/.test(text)) return "NODATABASE"
  if (/cluster support disabled/.test(text)) return "NOCLUSTER"
  if (
    /isn't writeable|isn't ready|Failed to refresh slots|None of startup nodes|max retries per request|is ended/.test(
      text,
    )
  ) {
    return "UNREACHABLE"
  }
  if (
    /[Cc]onnection (is|was) (closed|aborted|discarded)|aborted due to connection close|disconnect|[Ss]ocket closed/.test(
      text,
    )
  )
    return "CLOSED"
  // Redis repeats what it was sent in some of its other errors.
  return (
    text
      .replace(/,? with args beginning with.*$/s, "")
      .split("\n")[0]
      ?.slice(0, 200) ?? ""
  )
}

/** Whether a script is to be sent in full. */
export const isNoScript = (error: unknown): boolean => lastAnswer(messageOf(error)).startsWith("NOSCRIPT")

/** An error in words. `where` names the server, without secrets. */
export const describe = (error: unknown, where: string): Failure => {
  const code = codeOf(error)
  const entry = Object.hasOwn(known, code) ? known[code] : undefined
  if (entry === undefined) return { reason: `${where} said: ${code}`, passing: false, code: "ERR" }
  const [passing, reason] = entry
  return { reason: reason(where), passing, code }
}

/** The error that goes on as a cause: by name, without the command it was the answer to. */
export const bare = (error: unknown): Error => {
  const name = codeOf(error)
  return Object.assign(new Error(name), {
    name: error instanceof Error ? error.name : "Error",
    stack: undefined,
  })
}
