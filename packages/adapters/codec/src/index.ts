/**
 * What codecs of providers share: telling what is wrong with a message without quoting it, and keeping the fields
 * of a message that a codec does not know, so that decoding what was encoded gives the same messages (law L16).
 */
export { agrees, type Fields, isFields, rest, restore } from "./fields.js"
export { checkMessage, kindOf, type Problem, problemOf } from "./problem.js"
