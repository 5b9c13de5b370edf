/**
 * Hashes a batch id to 24 bits, by which an index finds the batch; the ids themselves are compared then. An index over
 * whole ids would take as much room as a short message.
 *
 * FNV-1a over the UTF-16 code units. A signed number of 24 bits takes three bytes in a row, an unsigned one four.
 */
export const batchHash = (batch: string): number => {
  let hash = 0x811c_9dc5
  for (let position = 0; position < batch.length; position++) {
    hash = Math.imul(hash ^ batch.charCodeAt(position), 0x0100_0193)
  }
  return ((hash ^ (hash >>> 24)) << 8) >> 8
}
