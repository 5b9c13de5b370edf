/**
 * Finds PostgreSQL and PgBouncer, which the tests of `@memfold/store-postgres` start, or installs them if that needs no
 * question.
 *
 * `node scripts/postgres.mjs` prints the folder of the server's programs, and the path of `pgbouncer`.
 */
import { existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { findOrInstall, which } from "./install.mjs"

/** Where Debian keeps the programs of each version. */
const debian = "/usr/lib/postgresql"

/** Folders that may have the programs of a server, the newest version first. */
const folders = () => {
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((one, other) => other - one) : []
  const homebrew = ["/opt/homebrew/opt", "/usr/local/opt"].map((folder) => join(folder, "postgresql@17"))
  return [...versions.map((version) => join(debian, version)), ...homebrew].map((folder) =>
    join(folder, "bin"),
  )
}

const hasServer = (folder) => ["initdb", "postgres"].every((name) => existsSync(join(folder, name)))

const findServer = () => {
  const inPath = which("initdb")
  return (
    process.env.MEMFOLD_POSTGRES_BIN ??
    [...folders(), ...(inPath === undefined ? [] : [dirname(inPath)])].find(hasServer)
  )
}

const findBouncer = () =>
  process.env.MEMFOLD_PGBOUNCER ?? which("pgbouncer", ["/usr/sbin", "/usr/local/sbin"])

/** The folder of the programs of a server, and the path of `pgbouncer`; `undefined` if one cannot be found or installed. */
export const postgresPrograms = () =>
  findOrInstall({
    what: "PostgreSQL and PgBouncer",
    purpose: "the tests of the PostgreSQL store",
    find: () => {
      const [bin, bouncer] = [findServer(), findBouncer()]
      return bin === undefined || bouncer === undefined ? undefined : { bin, bouncer }
    },
    debian: ["postgresql", "pgbouncer"],
    services: ["postgresql", "pgbouncer"],
    brew: ["postgresql@17", "pgbouncer"],
    variables: "MEMFOLD_POSTGRES_BIN=/path/to/bin MEMFOLD_PGBOUNCER=/path/to/pgbouncer",
  })

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { bin, bouncer } = postgresPrograms() ?? process.exit(2)
  console.log(`${bin}\n${bouncer}`)
}
