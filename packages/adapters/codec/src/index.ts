/**
 * Helpers of codecs: describing what is wrong with a message without quoting it, and keeping the fields that a codec does
 * not know. With these fields, encoding and decoding again gives the same messages (L16: codecs lose nothing).
 */
export { agrees, type Fields, isFields, rest, restore } from "./fields.js"
export { checkMessage, kindOf, type Problem, problemOf } from "./problem.js"
