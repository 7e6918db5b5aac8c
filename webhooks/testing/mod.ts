/**
 * What tests of other modules may use of the endpoint, beside its doors.
 *
 * @module
 */
export { Inbox } from "../spool/inbox.ts";
export type { InboxFile, InboxFolder, KeptGroup } from "../spool/inbox_file.ts";
