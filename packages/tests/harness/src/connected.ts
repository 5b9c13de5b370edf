/** A model of a library behind the strict server, for the tests of adapters. */
import { type Answering, type ProviderServer, providerServer } from "@memfold/strict-providers"

/** Starts a server that answers so, and makes the model of a library that asks it. */
export const connected = async <Model>(answer: Answering, model: (server: ProviderServer) => Model) => {
  const server = await providerServer({ answer })
  return { server, model: model(server) }
}
