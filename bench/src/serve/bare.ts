/**
 * What somebody writes in an hour, as a process: `bare.js FILE` prints its address. Node's HTTP server keeps messages in a table
 * of SQLite, with one durable transaction for each request, and answers with all messages of a session.
 */
import Sqlite from "better-sqlite3"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

const database = new Sqlite(process.argv[2])
database.pragma("journal_mode = WAL")
database.pragma("synchronous = FULL")
database.exec("CREATE TABLE messages (id INTEGER PRIMARY KEY, session TEXT, message TEXT)")
database.exec("CREATE INDEX of_session ON messages (session)")
const insert = database.prepare("INSERT INTO messages (session, message) VALUES (?, ?)")
const select = database.prepare("SELECT message FROM messages WHERE session = ? ORDER BY id")
const append = database.transaction((session: string, messages: ReadonlyArray<object>) => {
  for (const message of messages) insert.run(session, JSON.stringify(message))
})

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString("utf8")
}

const handle = async (request: IncomingMessage): Promise<string> => {
  const [, , , session = "", operation] = (request.url ?? "").split("/")
  if (operation === "context") {
    const rows = select.all(session) as ReadonlyArray<{ readonly message: string }>
    return `{"messages":[${rows.map(({ message }) => message).join(",")}]}`
  }
  append(session, (JSON.parse(await bodyOf(request)) as { messages: ReadonlyArray<object> }).messages)
  return "{}"
}

const server = createServer((request, response) => {
  void handle(request).then((body) => response.setHeader("content-type", "application/json").end(body))
})
server.listen(0, "127.0.0.1", 4_096, () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
