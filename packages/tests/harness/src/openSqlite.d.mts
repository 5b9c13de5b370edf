import type { Driver } from "./sqlite.js"

export const openSqlite: (driver: string, file: string) => Driver
