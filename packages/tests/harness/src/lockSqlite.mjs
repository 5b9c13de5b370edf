/** `lockSqlite.mjs DRIVER FILE SQL MILLIS`: runs some SQL on a file, says so, and keeps the file open for a while. */
import { setTimeout as sleep } from "node:timers/promises"
import { openSqlite } from "./openSqlite.mjs"

const [driver, file, sql, millis] = process.argv.slice(2)

const database = openSqlite(driver, file)
database.exec(sql)
console.log("locked")
await sleep(Number(millis))
database.close()
process.exit()
