/**
 * A Worker that checks the laws of stores: `/d1` over a D1 database, `/object` in a Durable Object. `?runs=N&seed=N` says how. The answer
 * has a line of JSON for each law, with what is wrong, if anything.
 */
import { check, eventLogProperties, title } from "@memfold/testing"
import { Effect, Layer } from "effect"
import { layerD1, layerObject } from "../../src/index.js"

/** Checks the laws over a store, which `empty` empties. */
const checked = (request, empty, layer) => {
  const asked = new URL(request.url).searchParams
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
  const { readable, writable } = new TransformStream()
  const writer = writable.getWriter()
  const work = async () => {
    for (const law of eventLogProperties({ layer: fresh, reopen, numRuns: Number(asked.get("runs")) })) {
      const wrong = await check(law, { seed: Number(asked.get("seed")), timeLimit: 60_000 }).then(
        () => "",
        (error) => error.message,
      )
      await writer.write(new TextEncoder().encode(`${JSON.stringify([title(law), wrong])}\n`))
    }
    await writer.close()
  }
  void work()
  return new Response(readable)
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
