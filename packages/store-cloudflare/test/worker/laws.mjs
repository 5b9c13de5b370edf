/**
 * A Worker that checks a law of stores: `/d1` over a D1 database, `/object` in a Durable Object. `?law=N&runs=N&seed=N` says which, and
 * how. The answer is empty if it holds, and otherwise says what is wrong.
 */
import { check, eventLogProperties } from "@memfold/testing"
import { Effect, Layer } from "effect"
import { layerD1, layerObject } from "../../src/index.js"

/** Checks a law over a store, which `empty` empties. */
const checked = async (request, empty, layer) => {
  const asked = new URL(request.url).searchParams
  const number = (name) => Number(asked.get(name))
  const fresh = () => Layer.unwrapEffect(Effect.map(Effect.promise(empty), () => layer))
  // Built again, it is the same database.
  const reopen = () => {
    let isNew = true
    return Layer.suspend(() => {
      const made = isNew ? fresh() : layer
      isNew = false
      return made
    })
  }
  const laws = eventLogProperties({ layer: fresh, reopen, numRuns: number("runs") })
  try {
    await check(laws[number("law")], { seed: number("seed"), timeLimit: 60_000 })
    return new Response("")
  } catch (error) {
    return new Response(String(error.message))
  }
}

/** Drops all that a database has, tables after those that refer to them. */
const emptied = async (database) => {
  const kept = "name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'"
  const { results } = await database
    .prepare(
      `SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND ${kept}
       ORDER BY type = 'view' DESC, name IN ('projections', 'summaries', 'events') DESC, name = 'events'`,
    )
    .all()
  if (results.length > 0)
    await database.batch(results.map(({ type, name }) => database.prepare(`DROP ${type} "${name}"`)))
}

export class Laws {
  constructor({ storage }) {
    this.storage = storage
  }
  fetch(request) {
    return checked(request, () => this.storage.deleteAll(), layerObject({ storage: this.storage }))
  }
}

export default {
  fetch(request, { DB, LAWS }) {
    return new URL(request.url).pathname === "/object"
      ? LAWS.get(LAWS.idFromName("laws")).fetch(request)
      : checked(request, () => emptied(DB), layerD1({ database: DB }))
  },
}
