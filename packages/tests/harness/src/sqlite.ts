/** SQLite's driver by itself, for tests of what a file holds and of programs that hold it. */
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"
import { openSqlite } from "./openSqlite.mjs"

/** As much of better-sqlite3 as the tests use. */
export interface Driver {
  readonly prepare: (sql: string) => {
    readonly all: (...parameters: ReadonlyArray<unknown>) => ReadonlyArray<Readonly<Record<string, unknown>>>
  }
  readonly exec: (sql: string) => void
  readonly pragma: (sql: string, options?: { readonly simple: boolean }) => unknown
  readonly close: () => void
}

const fromHere = createRequire(import.meta.url)
/** The path of the driver's module. */
export const driverPath = fromHere.resolve("better-sqlite3")
const open = (file: string): Driver => openSqlite(driverPath, file)

/** A program that holds a file: `lockSqlite.mjs DRIVER FILE SQL MILLIS`. */
export const lockProgram = fileURLToPath(new URL("lockSqlite.mjs", import.meta.url))

/** Opens a file as any program with SQLite would, until the test ends. */
export const openDriver = (file: string): Driver => {
  const driver = open(file)
  onTestFinished(() => driver.close())
  return driver
}

/** Uses a file as any program with SQLite would. */
export const withDriver = <A>(file: string, use: (driver: Driver) => A): A => {
  const driver = open(file)
  try {
    return use(driver)
  } finally {
    driver.close()
  }
}
