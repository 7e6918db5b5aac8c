/**
 * What tests of other modules may use of the endpoint, beside its doors.
 *
 * @module
 */
export { Inbox } from "../inbox.ts";
export type { InboxFile, InboxFolder, KeptGroup } from "../inbox_file.ts";
