/** What a chat model says of itself. */
import { type Fields, isFields } from "@memfold/codec"

/** The provider and the name of a model, as LangChain's traces have them; a model may say neither. */
export interface ModelNames {
  /** `openai-responses` for the Responses API of OpenAI. */
  readonly provider: string | undefined
  readonly model: string | undefined
}

/** A model that says what it is for traces. */
interface Traced {
  getLsParams(options: object): unknown
}

/** A model that `initChatModel` makes: the model itself is made when it is called. */
interface Configurable {
  _getModelInstance(): Promise<unknown>
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

const isConfigurable = (model: unknown): model is Configurable & Fields =>
  isFields(model) && typeof model["_getModelInstance"] === "function"

/** Whether a model of OpenAI uses the Responses API; it decides that by its settings. */
const usesResponses = (model: Fields): boolean => {
  const decides = model["_useResponsesApi"]
  return typeof decides === "function" ? Boolean(decides.call(model, {})) : model["useResponsesApi"] === true
}

const providerOf = (company: unknown, model: Fields): string | undefined => {
  const name = company === "azure" ? "openai" : text(company)
  return name === "openai" && usesResponses(model) ? "openai-responses" : name
}

/** The names of a model; of the model inside, if it is one with settings. */
export const namesOf = (model: unknown): ModelNames => {
  if (!isFields(model)) return { provider: undefined, model: undefined }
  if (isConfigurable(model)) {
    const settings = model["_defaultConfig"]
    return { provider: undefined, model: isFields(settings) ? text(settings["model"]) : undefined }
  }
  if (typeof model["getLsParams"] !== "function") return namesOf(model["bound"])
  try {
    const params: unknown = (model as unknown as Traced).getLsParams({})
    const { ls_provider: company, ls_model_name: name } = (isFields(params) ? params : {}) as Fields
    return { provider: providerOf(company, model), model: text(name) ?? text(model["model"]) }
  } catch {
    // A model whose parameters cannot be read counts as a model of an unknown provider.
    return { provider: undefined, model: text(model["model"]) }
  }
}

/** The base URL that the client of OpenAI was given, with which it speaks to many servers. */
const addressOf = (model: unknown): string | undefined => {
  if (!isFields(model)) return undefined
  const { clientConfig: config, bound } = model as Record<string, unknown>
  return isFields(config) ? text(config["baseURL"]) : addressOf(bound)
}

/** Who gets a request. */
export interface Recipient {
  readonly provider: string | undefined
  readonly server: string | undefined
}

/** Who gets the requests of a model, also of a configurable model that is created when it is called. */
export const recipientFor = async (model: unknown): Promise<Recipient> => {
  try {
    const made = isConfigurable(model) ? await model["_getModelInstance"]() : model
    return { provider: namesOf(made).provider, server: addressOf(made) }
  } catch {
    // The call of the model will say what is wrong with it.
    return { provider: undefined, server: undefined }
  }
}
