import { Schema } from "effect"

/** A model cannot be used. Nothing is loaded then. */
export class InvalidModel extends Schema.TaggedError<InvalidModel>()("InvalidModel", {
  /** The folder or the id of the model. */
  model: Schema.String,
  detail: Schema.String,
}) {
  override get message(): string {
    return `The embedding model ${this.model === "" ? "is not named" : `${this.model} cannot be used`}: ${this.detail}`
  }
}
