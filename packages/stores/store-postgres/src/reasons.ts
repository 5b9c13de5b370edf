/** The errors of PostgreSQL and its driver in words: the problem and what to do. */
import { codeOf } from "./dialect.js"
import { replaced } from "./sameDatabase.js"

const text = (cause: unknown, field: "message" | "constraint"): string =>
  typeof cause === "object" && cause !== null && field in cause
    ? String((cause as Readonly<Record<string, unknown>>)[field])
    : ""

const reasons: ReadonlyArray<readonly [code: RegExp, reason: (name: string, cause: unknown) => string]> = [
  [
    RegExp(`^${replaced}$`),
    (name) =>
      `${name} was restored from a backup, or another database is in its place, while this process used it: an append that was acknowledged may be gone. Start the process again`,
  ],
  [
    /^(ECONNREFUSED|ENOENT)$/,
    (name) => `${name} refuses connections; start it, or check the address and the network`,
  ],
  [
    /^(ENOTFOUND|EAI_AGAIN)$/,
    (name) => `the host of ${name} is not known; check the address and the network`,
  ],
  [
    /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08\w{3})$/,
    (name, cause) => `the connection to ${name} is lost or refused (${text(cause, "message")})`,
  ],
  [/^57P0[1-5]$/, (name) => `${name} is starting, stopping or restarting; try again`],
  [/^53300$/, (name) => `${name} has no connection left; use fewer connections, or a pooler`],
  [/^(40001|40P01|55P03)$/, (name) => `${name} is busy with the writes of others; try again`],
  [
    /^28/,
    (name) => `${name} does not let this user in; check the user, the password and the server's pg_hba.conf`,
  ],
  [/^25P01$/, () => "the transaction has not begun or has ended; use within until it ends"],
  [/^25P02$/, () => "an earlier statement of the transaction has failed; roll it back"],
  [/^3D000$/, (name) => `${name} does not exist; create the database, or check its name`],
  [/^42501$/, (name) => `the user may not do this in ${name}; grant what the README lists`],
  [
    /^25006$/,
    (name) => `${name} takes no writes: it is a standby, or set to read-only; connect to the primary`,
  ],
  [/^53[12]00$/, (name) => `the disk or the memory of ${name} is full; make room and try again`],
  [
    /^22(021|P05)$/,
    () =>
      "PostgreSQL keeps no text with a NUL character; the session id, the key, the owner or the title has one",
  ],
  [
    /^54000$/,
    () => "a session id, a key or an owner is longer than an index of PostgreSQL can hold (2,700 bytes)",
  ],
  [
    /^23505$/,
    (name, cause) =>
      `the change would leave two ${text(cause, "constraint").startsWith("summaries") ? "active summaries" : "rows with one mark"} in ${name}; nothing was written`,
  ],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|ERR_TLS_\w+)$/,
    (name, cause) =>
      `the certificate of ${name} is not accepted (${text(cause, "message")}); give its authority with tls or sslrootcert, and the host name that it is for`,
  ],
]

/** The reason of what the server or the driver answered. */
export const reasonOf =
  (name: string) =>
  (cause: unknown): string => {
    const known = reasons.find(([code]) => code.test(codeOf(cause)))
    if (known !== undefined) return known[1](name, cause)
    const message = text(cause, "message")
    if (message.startsWith("The server does not support SSL"))
      return `${name} does not offer TLS; turn it on at the server, or leave sslmode out`
    if (/timeout|Connection terminated/.test(message)) return `${name} does not answer (${message})`
    return `${message === "" ? "the driver gave no reason" : message} (${name})`
  }
