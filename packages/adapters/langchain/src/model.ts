/** What a chat model says of itself. */
import { type Fields, isFields } from "@memfold/codec"

/** The provider and the name of a model, as LangChain's traces have them; a model may say neither. */
export interface ModelNames {
  readonly provider: string | undefined
  readonly model: string | undefined
}

/** A model that says what it is for traces. */
interface Traced {
  getLsParams(options: object): unknown
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** Whether a model of OpenAI uses the Responses API; it decides that by its settings. */
const usesResponses = (model: Fields): boolean => {
  const decides = model["_useResponsesApi"]
  return typeof decides === "function" ? Boolean(decides.call(model, {})) : model["useResponsesApi"] === true
}

/** The names of a model; of the model inside, if it is one with settings. */
export const namesOf = (model: unknown): ModelNames => {
  if (!isFields(model)) return { provider: undefined, model: undefined }
  if (typeof model["getLsParams"] !== "function") return namesOf(model["bound"])
  try {
    const params: unknown = (model as unknown as Traced).getLsParams({})
    const { ls_provider: company, ls_model_name: name } = (isFields(params) ? params : {}) as Record<
      string,
      unknown
    >
    const provider = company === "openai" && usesResponses(model) ? "openai-responses" : text(company)
    return { provider, model: text(name) ?? text(model["model"]) }
  } catch {
    // A model that cannot say it is one that nothing is known of.
    return { provider: undefined, model: text(model["model"]) }
  }
}
