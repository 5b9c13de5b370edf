/**
 * `@memfold/sealed`: what a store keeps, sealed with a key per owner. Whoever destroys the key erases backups, too.
 *
 * @packageDocumentation
 */
export { destroyKeys, erase, restoreKeys } from "./erase.js"
export { type FolderKeyring, folderKeyring, type FolderOptions } from "./folderKeyring.js"
export { type Holder, type Key, type KeyInfo, type Keyring, KeyringError } from "./Keyring.js"
export { environmentRoot, fileRoot, type Root } from "./Root.js"
export { sealed, sealing, sealLog } from "./Sealed.js"
