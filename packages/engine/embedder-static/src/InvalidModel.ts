import { Schema } from "effect"

/** A folder has no model that can be read. Nothing is loaded then. */
export class InvalidModel extends Schema.TaggedError<InvalidModel>()("InvalidModel", {
  /** The file that is missing or wrong. */
  file: Schema.String,
  detail: Schema.String,
}) {
  override get message(): string {
    return `No static model can be read from ${this.file}: ${this.detail}. Give the folder of a model2vec or sentence-transformers static model, with model.safetensors and tokenizer.json.`
  }
}
