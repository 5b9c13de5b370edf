/** The service: access, settings, health. */
import { Schema } from "effect"
import { described, optional, text } from "./fields.js"
import { Json } from "./form.js"

export const Access = Schema.Struct({
  tenant: described(Schema.NullOr(Schema.String), "Whose sessions the caller sees; `null` for all"),
  rights: Schema.Array(Schema.Literal("read", "write", "erase")),
}).annotations({ identifier: "Access" })

export const StrategyForm = Schema.Struct({
  name: Schema.String,
  section: described(Schema.Array(Schema.String), "Where the settings stand in a settings file"),
  defaults: Json,
  schema: described(Json, "A JSON schema: what each setting can be, its default, and what it is for"),
}).annotations({ identifier: "StrategyForm" })

export const Settings = Schema.Struct({
  strategy: text("The strategy of requests that name none"),
  settings: described(Json, "Its settings; those that are missing have their defaults"),
  stored: described(
    Schema.Boolean,
    "Whether changes are stored in the settings file, and outlive the service",
  ),
  section: Schema.Array(Schema.String),
  strategies: Schema.Array(StrategyForm),
}).annotations({ identifier: "Settings" })

export const SettingsChange = Schema.Struct({
  strategy: optional(Schema.String, "The name of a strategy; the present one by default"),
  settings: described(Json, "All settings of the strategy; those that are missing get their defaults"),
})

export const Health = Schema.Struct({ status: Schema.Literal("ok") })
