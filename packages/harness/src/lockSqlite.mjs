/** `lockSqlite.mjs DRIVER FILE SQL MILLIS`: runs some SQL on a file, says so, and keeps the file open for a while. */
import { createRequire } from "node:module"
import { setTimeout as sleep } from "node:timers/promises"

const [driver, file, sql, millis] = process.argv.slice(2)
const Sqlite = createRequire(import.meta.url)(driver)

const database = new Sqlite(file)
database.exec(sql)
console.log("locked")
await sleep(Number(millis))
database.close()
process.exit()
