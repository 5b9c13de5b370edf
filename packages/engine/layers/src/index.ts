/**
 * Memory layers for `@memfold/core`: what is known of the user and of the scope, learned after each turn and
 * recalled by relevance to the current message (reference design 2).
 */
export { layer, make } from "./Layers.js"
export { checkOptions, type NameOf, optionGroup, type Options } from "./options.js"
export { isHome, scopeHome, userHome } from "./homes.js"
export type { Extractor, Found, Material, NewFact } from "./Extractor.js"
/** Facts that an application declares. */
export * as Fact from "./Fact.js"
export { functionExtractor, type FunctionFact, type FunctionMaterial } from "./functionExtractor.js"
export { rules } from "./rules/index.js"
export { modelExtractor } from "./model/modelExtractor.js"
export type { FactsAnswer, FactsPrompt, ModelOptions } from "./model/modelExtractor.js"
