/**
 * Helpers of codecs: describing what is wrong with a message without quoting it, keeping the fields that a codec does
 * not know, and replacing ids that a provider refuses. With these fields, encoding and decoding again gives the same
 * messages (L16: codecs lose nothing).
 */
export { atOnce, mapped, type Steps } from "@memfold/log/breathe"
export { allMessages } from "./allMessages.js"
export { CallIds, idRules, type IdRules } from "./CallIds.js"
export { ItemIds, unusedId } from "./ItemIds.js"
export { followingParts } from "./followingParts.js"
export { Queues } from "./Queues.js"
export { asJson, type Decoder, decoder, decoding, type ErrorClass } from "./decoding.js"
export { DecodeError } from "./DecodeError.js"
export { digest, randomId } from "./digest.js"
export { agrees, type Fields, isFields, isSame, patchOf, present, rest, restore } from "./fields.js"
export {
  type BlocksAs,
  compactionOf,
  describeFailure,
  failureOf,
  type RequestFailure,
} from "./requestFailure.js"
export { type ContentFormat, type ContentPlace, contentReader } from "./contentPart.js"
export { base64In, base64Uri, isAddress, mediaTypeIn, textInUri, textUri } from "./dataUri.js"
export { foreignProblem, type Library } from "./foreign.js"
export { accepting, type Forms, forms, JsonFields } from "./forms.js"
export { withoutEarlierThoughts } from "./earlierThoughts.js"
export { inPlace, type Unplaced } from "./inPlace.js"
export { leavingOut, type Sendable } from "./leavingOut.js"
export { plainText } from "./plainText.js"
export { authorName, toolName } from "./requestName.js"
export { hasOption, signerIn } from "./providerOptions.js"
export { withPairId } from "./pairIds.js"
export { inOrder } from "./inOrder.js"
export { answersEarlier, type LatePlaced, lateResults, withLateResults } from "./lateResults.js"
export { withoutMisplacedCalls } from "./misplacedCalls.js"
export { withoutOtherModels } from "./otherModels.js"
export { Omissions, type Omitted } from "./Omitted.js"
export {
  type Limits,
  messagesToSend,
  noOutput,
  opening,
  redactedThinking,
  sendable,
  unsaid,
} from "./toSend.js"
export { type Server, type ServerName, serverNames, serverOf, servers } from "./servers.js"
export { everyTurn, inTurns, type Speaker } from "./turns.js"
export { type Placed, placeSummaries, type Reader, type SummaryOptions } from "./summaries.js"
export {
  asStored,
  behindStored,
  type ContextParts,
  type SessionContext,
  StoredSession,
  type StoreOptions,
} from "./StoredSession.js"
export { isAnswer, isUnfinished, isWaiting, type Sighting, unseenOf, withUnseen } from "./unseen.js"
export { type UnsupportedSection, unsupportedSections } from "./unsupported.js"
export { type Frozen, freeze, Special, thaw } from "./values.js"
export { exactText, parseExactly } from "./exactNumbers.js"
export { knownOf, onlyKnown } from "./known.js"
export {
  known,
  type KnownFields,
  type KnownInside,
  type KnownTypes,
  requestFields,
} from "@memfold/message/requestFields"
export { isTooMuch, isUnreadable, type Measured, measured, mostMeasured } from "./measured.js"
export { argumentsOf, objectArguments, objectOf, rawArguments, valueIn } from "./callArguments.js"
export { type Answer, type AskedModel, type ModelOptions, modelSummarizer } from "./modelSummarizer.js"
export { checkMessage } from "./checkMessage.js"
export { kindOf, type Problem, problemOf } from "./problem.js"
export { isCount, usageOf } from "./usage.js"
export { wellFormed } from "./wellFormed.js"
export { goBack } from "./goBack.js"
export { BranchLeft, type PlaceOfCall, isLeft } from "./leftBranch.js"
export { pagesBack, type PagesBackOptions } from "./pagesBack.js"
