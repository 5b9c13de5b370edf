/** Stores by their URLs, as layers. */
import { storeLayer } from "@memfold/catalog"
import { EventLog } from "@memfold/log"
import { Effect, Layer } from "effect"

/** The store of a URL. */
export const catalogStore = (url: string): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  Layer.unwrapEffect(
    Effect.mapError(
      storeLayer(url),
      ({ message }) => new EventLog.LogError({ operation: "open", reason: message }),
    ),
  ).pipe(
    Layer.catchAll((error) =>
      Layer.fail(
        error._tag === "LogError"
          ? error
          : new EventLog.LogError({ operation: "open", reason: error.message }),
      ),
    ),
  )
