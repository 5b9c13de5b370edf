/** Stores by their URLs, as layers. */
import { storeLayer } from "@memfold/catalog"
import { EventLog } from "@memfold/log"
import { Layer } from "effect"

/** The store of a URL. */
export const catalogStore = (url: string): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  Layer.catchAll(Layer.unwrapEffect(storeLayer(url)), (error) =>
    Layer.fail(
      error._tag === "LogError" ? error : new EventLog.LogError({ operation: "open", reason: error.message }),
    ),
  )
