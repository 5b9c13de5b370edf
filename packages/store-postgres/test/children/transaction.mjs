// Appends and inserts in one transaction, says so, and waits to be killed before the commit.
import { createMemory } from "memfold"
import { Pool } from "pg"

const [url, schema] = process.argv.slice(2)
const memory = createMemory({ store: `${url}?schema=${schema}` })
const client = await new Pool({ connectionString: url }).connect()
await client.query("BEGIN")
await client.query(`INSERT INTO ${schema}.orders (id) VALUES (2)`)
await memory.within(client).append("chat-1", { role: "user", content: "uncommitted" })
process.stdout.write("written\n")
setInterval(() => {}, 1_000)
